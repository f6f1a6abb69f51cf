import { capability } from '../../contract/index.ts';
import { assertNever } from '../../kernel/index.ts';
import { type CallStep, nextStep } from '../policy/next-step.ts';
import { bookDoubt } from './book-doubt.ts';
import { type BuyResult, buy, leaveAgentRoom, leaveRoom } from './buy.ts';
import { cancelAtVendor } from './cancel-call.ts';
import { end, endBadly } from './end-call.ts';
import { availabilityOf, policyOf, triesOf } from './history.ts';
import { askJudge } from './judge.ts';
import { tellLateResult } from './late-result.ts';
import { engineFault } from './read-again.ts';
import { StorageError } from '../ports/index.ts';
import type { Services } from './services.ts';
import type { CallEnd, LiveAttempt, SkillCall, WaitReason } from './types.ts';
import { type AskJudge, useOutput } from './use-output.ts';
import { lateMark, marksOf } from './words.ts';

const storeAgainMs = 1_000;

/**
 * Takes a call as far as it goes now: until it has ended, or waits for the vendor, a time, room, or a person. Whatever
 * wakes it comes back here; `nextStep` decides from the history alone, so that it does not matter who woke it, or how
 * often. Never two at once for one call.
 */
export function advance(services: Services, call: SkillCall): void {
  if (call.state === 'ended') return;
  if (call.state === 'busy') {
    call.isAgain = true;
    return;
  }
  void services.track(run(services, call));
}

async function run(services: Services, call: SkillCall): Promise<void> {
  services.timers.disarm(call);
  services.pausedCalls.delete(call);
  services.providerWaiters.delete(call);
  do {
    call.state = 'busy';
    call.isAgain = false;
    try {
      await step(services, call);
    } catch (error) {
      if (services.signal.aborted || call.run.epoch() === undefined) return;
      if (error instanceof StorageError) {
        // The database is away: the call's history is on disk, and the same question is asked again later.
        services.deps.logger.error('the store cannot be read; the call goes on soon', { path: call.path });
        sleepFor(services, call, 'retry', storeAgainMs);
        return;
      }
      end(services, call, { kind: 'failed', failure: engineFault(services, call.path, error) });
    }
  } while (isAgain(call));
}

/** Read anew: `advance` may have set it while the step waited. */
function isAgain(call: SkillCall): boolean {
  return call.isAgain && call.state !== 'ended';
}

async function step(services: Services, call: SkillCall): Promise<void> {
  if (call.run.epoch() === undefined) return;
  if (call.inherited !== undefined) {
    await useInherited(services, call, call.inherited);
    return;
  }
  // Before anything is decided: what a restart, or a timer before the last look, finds past its time for asking.
  for (const { attempt } of call.tries) if (attempt !== undefined) await bookDoubt(services, attempt, call);
  const next = nextStep(policyOf(services, call), triesOf(services, call), availabilityOf(services, call));
  const stopping = call.run.stopping();
  if (stopping === 'canceled') {
    await cancelStep(services, call, next);
    return;
  }
  if (stopping !== undefined && buysOrWaits(next)) {
    end(services, call, giveUp(next));
    return;
  }
  switch (next.kind) {
    case 'wait':
      leaveAgentRoom(services, call);
      services.watcher.watch(next.attempt, call);
      call.state = 'watching';
      call.owner.waits(call, undefined);
      return;
    case 'hold':
      leaveRoom(services, call);
      services.watcher.watch(next.attempt, call);
      call.state = 'held';
      call.owner.held(call, next.attempt, next.failure);
      return;
    case 'use':
      await useSettled(services, call, next.attempt);
      return;
    case 'try':
      await tryCandidate(services, call, next);
      return;
    case 'wait-for-provider':
      waitForProvider(services, call, next.candidate);
      return;
    case 'degrade':
    case 'fail':
      endBadly(services, call, next);
      return;
    default:
      assertNever(next);
  }
}

/**
 * A cancel was asked for. An unanswered submit has been awaited by now, and its handle stored: the vendor is asked to
 * stop. What cannot be stopped is watched on for its bill; a result that is there already is kept and told as late.
 */
async function cancelStep(services: Services, call: SkillCall, next: CallStep<LiveAttempt>): Promise<void> {
  if (next.kind === 'wait' && next.attempt.record.state === 'accepted') await cancelAtVendor(services, next.attempt);
  const isThere = next.kind === 'use' || (next.kind === 'wait' && next.attempt.record.state === 'succeeded');
  const settled = isThere ? next.attempt : undefined;
  end(services, call, { kind: 'canceled' });
  if (settled !== undefined && capability(call.skill.plan.definition.capability).mediaClass !== 'text')
    await tellLateResult(services, settled);
}

function buysOrWaits(next: CallStep<LiveAttempt>): boolean {
  return next.kind === 'try' || next.kind === 'wait-for-provider';
}

function giveUp(next: CallStep<LiveAttempt>): CallEnd {
  return next.kind === 'try' && next.because !== undefined
    ? { kind: 'failed', failure: next.because }
    : { kind: 'canceled' };
}

async function tryCandidate(
  services: Services,
  call: SkillCall,
  next: Extract<CallStep<LiveAttempt>, { kind: 'try' }>,
): Promise<void> {
  const { clock, random } = services.deps;
  const nowMs = clock.nowMs();
  if (call.deadlineAt !== undefined && nowMs >= call.deadlineAt) {
    end(services, call, {
      kind: 'failed',
      failure: next.because ?? {
        kind: 'timeout',
        code: 'node-timeout',
        message: 'the time limit of the node has passed',
      },
    });
    return;
  }
  if (call.notBefore?.tries !== call.tries.length) {
    const delayMs =
      Math.max(0, Math.min(next.notBefore - nowMs, 86_400_000)) + Math.floor(random.next() * next.jitterMs);
    call.notBefore = { tries: call.tries.length, atMs: clock.monotonicMs() + delayMs };
  }
  const waitMs = call.notBefore.atMs - clock.monotonicMs();
  if (waitMs > 0) {
    leaveRoom(services, call);
    sleepFor(services, call, 'retry', waitMs);
    return;
  }
  call.owner.works(call);
  const bought = await buy(services, call, next);
  afterBuying(services, call, bought);
}

function afterBuying(services: Services, call: SkillCall, bought: BuyResult): void {
  if (bought.kind === 'lost') return;
  if (bought.kind === 'done') {
    if (call.tries.at(-1)?.attempt?.record.state !== 'accepted') leaveRoom(services, call);
    call.isAgain = true;
    return;
  }
  if (bought.forMs !== undefined) sleepFor(services, call, bought.why, bought.forMs);
  else if (bought.why === 'paused') {
    leaveRoom(services, call);
    // Resumed in this very moment: nobody will wake it.
    if (!services.isPaused()) {
      call.isAgain = true;
      return;
    }
    services.pausedCalls.add(call);
    tellWait(call, 'paused', 'timer');
  } else tellWait(call, bought.why, 'gate');
}

function sleepFor(services: Services, call: SkillCall, why: WaitReason, forMs: number): void {
  services.timers.arm(call, forMs);
  tellWait(call, why, 'timer');
}

function tellWait(call: SkillCall, why: WaitReason, state: 'timer' | 'gate'): void {
  call.state = state;
  call.owner.waits(call, why);
}

function waitForProvider(services: Services, call: SkillCall, candidate: number): void {
  leaveRoom(services, call);
  const provider = call.skill.plan.candidates[candidate]?.provider ?? '';
  const { clock, random } = services.deps;
  if (call.deadlineAt !== undefined && clock.nowMs() >= call.deadlineAt) {
    end(services, call, {
      kind: 'failed',
      failure: {
        kind: 'timeout',
        code: 'provider-paused',
        message: `provider ${provider} was paused past the time limit of the node`,
        provider,
      },
    });
    return;
  }
  services.providerWaiters.add(call);
  // One probe at a time: whoever comes first after the pause is let through, the others look again a little later.
  const probeMs = services.breakers.probeInMs(provider, clock.monotonicMs()) ?? 5_000;
  sleepFor(services, call, 'provider-paused', probeMs + random.next() * 1_000);
}

function judgesOf(services: Services, call: SkillCall, attempt: LiveAttempt): AskJudge {
  return askJudge(services, call, attempt, (judge) => {
    advance(services, judge);
  });
}

async function useSettled(services: Services, call: SkillCall, attempt: LiveAttempt): Promise<void> {
  leaveRoom(services, call);
  const isLate = call.state === 'held' || attempt.record.observedWaitMs > attempt.record.deadlineMs;
  const verdict = await useOutput(services, call, attempt, judgesOf(services, call, attempt));
  if (verdict.kind === 'refused' || verdict.kind === 'canceled') {
    call.isAgain = true;
    return;
  }
  if (verdict.kind === 'failed') {
    end(services, call, { kind: 'failed', failure: verdict.failure });
    return;
  }
  const candidate = call.tries.find((each) => each.attempt === attempt)?.candidate ?? 0;
  const marks = [
    ...marksOf(call, attempt, candidate),
    ...verdict.marks,
    ...(isLate ? [lateMark(call.path, call.title)] : []),
  ];
  end(services, call, {
    kind: 'succeeded',
    output: verdict.output,
    degraded: false,
    marks,
    attemptId: attempt.record.id,
    isReused: false,
  });
}

/** A purchase of an earlier execution: what it delivered is used, never bought again while it can be had. */
async function useInherited(services: Services, call: SkillCall, attempt: LiveAttempt): Promise<void> {
  call.owner.works(call);
  const verdict = await useOutput(services, call, attempt, judgesOf(services, call, attempt));
  call.inherited = undefined;
  if (verdict.kind === 'refused' || verdict.kind === 'canceled') {
    call.isAgain = true;
    return;
  }
  if (verdict.kind === 'failed') {
    end(services, call, { kind: 'failed', failure: verdict.failure });
    return;
  }
  end(services, call, {
    kind: 'succeeded',
    output: verdict.output,
    degraded: false,
    marks: verdict.marks,
    attemptId: attempt.record.id,
    isReused: true,
  });
}
