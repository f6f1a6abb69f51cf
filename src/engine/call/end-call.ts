import type { CallStep } from '../policy/next-step.ts';
import { renderValue } from '../skill/render.ts';
import { skillValues } from '../skill/request.ts';
import { feedbackOf, leaveRoom } from './buy.ts';
import { eventOf, failureData } from './events.ts';
import type { Services } from './services.ts';
import type { CallEnd, LiveAttempt, SkillCall } from './types.ts';
import { degradedMark } from './words.ts';

/** Every candidate and try is spent: the fixed output of the skill, marked, or the failure. */
export function endBadly(
  services: Services,
  call: SkillCall,
  next: Extract<CallStep<LiveAttempt>, { kind: 'degrade' | 'fail' }>,
): void {
  const nowMs = services.deps.clock.nowMs();
  const execution = call.run.execution();
  const facts = {
    node: call.path,
    title: call.title,
    failure: failureData(next.failure),
    ...(next.failure.provider === undefined ? {} : { provider: next.failure.provider }),
  };
  call.run.push([eventOf(execution, nowMs, 'candidates-exhausted', facts)]);
  const { degrade } = call.skill.plan.definition;
  if (next.kind === 'fail' || degrade === undefined) {
    end(services, call, { kind: 'failed', failure: next.failure });
    return;
  }
  call.run.push([eventOf(execution, nowMs, 'node-degraded', { ...facts, note: degrade.note })]);
  const output = renderValue(
    degrade.output,
    skillValues(call.skill, { input: call.input, params: call.params, feedback: feedbackOf(call) }),
  );
  end(services, call, {
    kind: 'succeeded',
    output,
    degraded: true,
    marks: [degradedMark(call.path, call.title, degrade.note)],
    isReused: false,
  });
}

/** Ends the call, once. Attempts that are still open or payable are watched on for their bills. */
export function end(services: Services, call: SkillCall, result: CallEnd): void {
  if (call.state === 'ended') return;
  call.state = 'ended';
  call.run.closed(call);
  services.timers.disarm(call);
  services.pausedCalls.delete(call);
  services.providerWaiters.delete(call);
  leaveRoom(services, call);
  for (const each of call.tries) if (each.attempt !== undefined) services.watcher.orphan(each.attempt);
  call.owner.ended(call, result);
}
