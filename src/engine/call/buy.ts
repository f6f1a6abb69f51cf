import { capability, type Failure, type PreparedRequest } from '../../contract/index.ts';
import { formatMicros, type JsonObject } from '../../kernel/index.ts';
import type { PlanCandidate } from '../graph/plan.ts';
import type { CallStep } from '../policy/next-step.ts';
import type { Priced } from '../policy/pricing.ts';
import type { StoreCommand } from '../ports/index.ts';
import { buildCapabilityInput } from '../skill/request.ts';
import { attemptEvent, eventOf, failureData } from './events.ts';
import { hasArrivedSince } from './inherit.ts';
import { intentRecord, nextOrdinal, type Purchase, reservation } from './intent.ts';
import { withLimit } from './limit.ts';
import { noteProvider } from './provider-health.ts';
import type { Services } from './services.ts';
import { settleAttempt } from './settle.ts';
import { claimRooms, maySend, releaseRooms } from './peers.ts';
import { sendIntent, withProvider } from './submit.ts';
import type { LiveAttempt, SkillCall, WaitReason } from './types.ts';

type TryStep = Extract<CallStep<LiveAttempt>, { kind: 'try' }>;

/** What `buy` did: it bought (or was refused, or found it delivered), or the call must wait for a reason, or it is over. */
export type BuyResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'wait'; readonly why: WaitReason; readonly forMs: number | undefined }
  | { readonly kind: 'lost' };

const diskCheckMs = 30_000;
const budgetCheckMs = 60_000;
const prepareLimitMs = 600_000;
/** Room that other workers have is looked for again after this, and up to as long again. */
const claimAgainMs = 250;

/**
 * One purchase, in the order that never pays twice: not paused, disk free, room at the gates; inputs prepared and
 * uploaded; nothing bought before that has arrived meanwhile; budget; then the intent with its reservation in one commit;
 * then the request, at once.
 */
export async function buy(services: Services, call: SkillCall, step: TryStep): Promise<BuyResult> {
  const candidate = call.skill.plan.candidates[step.candidate];
  if (candidate === undefined) throw new Error(`candidate ${step.candidate} of ${call.path} does not exist`);
  const { deps } = services;
  // Whatever is not begun any more in this process is begun in the next.
  if (services.isStopping()) return { kind: 'lost' };
  if (services.isPaused()) return { kind: 'wait', why: 'paused', forMs: undefined };
  if ((await deps.freeBytes()) < deps.settings.storage.min_free)
    return { kind: 'wait', why: 'disk', forMs: diskCheckMs };
  if (!takeRoom(services, call, step.candidate, candidate)) return { kind: 'wait', why: 'slot', forMs: undefined };
  if (!(await claimRooms(services, call))) {
    // Room among our own is kept meanwhile: the others wait behind this call, and only it asks the database.
    releaseRooms(services, call);
    return { kind: 'wait', why: 'slot', forMs: claimAgainMs + deps.random.next() * claimAgainMs };
  }
  const prepared = await prepare(services, call, candidate);
  if (prepared.kind === 'refused') {
    leaveRoom(services, call);
    const change = services.breakers.failed(candidate.provider, prepared.failure, deps.clock.monotonicMs());
    noteProvider(services, candidate.provider, change, prepared.failure);
    call.tries.push({ candidate: step.candidate, refusal: prepared.failure, at: deps.clock.nowMs() });
    return { kind: 'done' };
  }
  if (await hasArrivedSince(services, call)) return { kind: 'done' };
  const isPaid = capability(call.skill.plan.definition.capability).paid;
  const estimate = services.pricer.estimate(candidate.model, prepared.input);
  if (isPaid && !(await isWithinBudget(services, call, estimate))) {
    leaveRoom(services, call);
    return { kind: 'wait', why: 'budget', forMs: budgetCheckMs };
  }
  return await commitAndSend(services, call, step, { candidate, estimate, isPaid, ...prepared });
}

function takeRoom(services: Services, call: SkillCall, index: number, candidate: PlanCandidate): boolean {
  if (call.slotsFor === index) return true;
  leaveRoom(services, call);
  const names = roomsOf(candidate.provider, candidate.model.id, call.run.execution().labels.agent);
  call.slots = names;
  call.slotsFor = index;
  if (services.gates.enter(names, call)) return true;
  call.slots = [];
  call.slotsFor = undefined;
  call.queuedFor = { names, candidate: index };
  return false;
}

export function roomsOf(provider: string, model: string, agent: string | undefined): readonly string[] {
  const rooms = [`provider:${provider}`, `model:${provider}/${model}`];
  return agent === undefined ? rooms : [...rooms, `agent:${agent}`];
}

export function leaveRoom(services: Services, call: SkillCall): void {
  services.gates.withdraw(call);
  call.queuedFor = undefined;
  releaseRooms(services, call);
  if (call.slots.length > 0) services.gates.leave(call.slots);
  call.slots = [];
  call.slotsFor = undefined;
}

/** Waiting for a vendor takes no room of the agent; the provider's and the model's are kept, the task runs there. */
export function leaveAgentRoom(services: Services, call: SkillCall): void {
  const kept = call.slots.filter((name) => !name.startsWith('agent:'));
  if (kept.length === call.slots.length) return;
  services.gates.leave(call.slots.filter((name) => name.startsWith('agent:')));
  call.slots = kept;
}

type Prepared =
  | { readonly kind: 'prepared'; readonly request: PreparedRequest; readonly input: JsonObject }
  | { readonly kind: 'refused'; readonly failure: Failure };

async function prepare(services: Services, call: SkillCall, candidate: PlanCandidate): Promise<Prepared> {
  const { definition } = call.skill.plan;
  const input = buildCapabilityInput(call.skill, {
    input: call.input,
    params: call.params,
    feedback: feedbackOf(call),
  });
  if (!input.ok) return { kind: 'refused', failure: input.failure };
  const adapter = services.adapter(candidate.provider, candidate.model.implementation);
  if (adapter === undefined)
    throw new Error(`no implementation ${candidate.model.implementation} at ${candidate.provider}`);
  const key = `${call.run.execution().id}:${call.path}:${nextOrdinal(call)}`;
  const asked = { key, capability: definition.capability, model: candidate.model, input: input.value };
  const answer = await withLimit(services.deps.clock, prepareLimitMs, services.signal, (signal) =>
    adapter.prepare(asked, signal),
  );
  if (answer.kind === 'no-answer') {
    return {
      kind: 'refused',
      failure: { kind: 'network', code: 'prepare', message: answer.error.message, provider: candidate.provider },
    };
  }
  if (!answer.value.ok) return { kind: 'refused', failure: withProvider(answer.value.failure, candidate.provider) };
  return { kind: 'prepared', request: answer.value.value, input: input.value };
}

/** Reasons of the last refused output: what the next attempt is to mend. */
export function feedbackOf(call: SkillCall): readonly string[] {
  return (
    call.tries.findLast((each) => each.attempt?.record.refusedOutput !== undefined)?.attempt?.record.refusedOutput ?? []
  );
}

async function isWithinBudget(services: Services, call: SkillCall, estimate: Priced): Promise<boolean> {
  const { labels, sourceRef } = call.run.execution();
  const verdict = await services.budgets.reserve(labels, sourceRef, estimate.cnyMicros);
  if (verdict.kind === 'free') return true;
  const nowMs = services.deps.clock.nowMs();
  const day = services.budgets.dayStart(nowMs);
  const mark = `${verdict.kind} ${verdict.of ?? ''} ${verdict.name ?? ''} ${day}`;
  if (!services.warned.has(mark)) {
    services.warned.add(mark);
    const type = verdict.kind === 'reached' ? 'budget-reached' : 'budget-warning';
    call.run.push([
      eventOf(call.run.execution(), nowMs, type, {
        node: call.path,
        scope: verdict.of,
        budget: verdict.name,
        spentCny: formatMicros(verdict.spentCnyMicros ?? 0, 4),
        limitCny: formatMicros(verdict.limitCnyMicros ?? 0, 4),
      }),
    ]);
  }
  return verdict.kind !== 'reached';
}

async function commitAndSend(
  services: Services,
  call: SkillCall,
  step: TryStep,
  purchase: Purchase,
): Promise<BuyResult> {
  const { deps } = services;
  const epoch = call.run.epoch();
  if (epoch === undefined) {
    if (purchase.isPaid) giveBack(services, call, purchase.estimate);
    return { kind: 'lost' };
  }
  const nowMs = deps.clock.nowMs();
  const record = intentRecord(services, call, purchase, nowMs);
  const charge = purchase.isPaid ? reservation(services, call, record, purchase.estimate) : undefined;
  const live: LiveAttempt = { record, charge };
  deps.failpoints.hit('attempt:before-intent');
  call.tries.push({ candidate: step.candidate, attempt: live, at: nowMs });
  if (purchase.isPaid) call.paid.used += 1;
  const isWritten = await call.run.write([
    ...switchEvents(call, step, nowMs),
    { type: 'create-attempt', record, epoch },
    ...(charge === undefined ? [] : [{ type: 'create-charge', record: charge } as const]),
    attemptEvent(record, nowMs, 'attempt-intended', { title: call.title, ordinal: record.ordinal }),
  ]);
  if (!isWritten) {
    if (purchase.isPaid) giveBack(services, call, purchase.estimate);
    return { kind: 'lost' };
  }
  if (charge !== undefined) services.budgets.landed(charge.labels, charge.sourceRef, charge.cnyMicros);
  deps.failpoints.hit('attempt:after-intent');
  const unsent = await whyNotSent(services, call, epoch);
  if (unsent === undefined) await sendIntent(services, live, purchase.request);
  else await settleAttempt(services, live, { state: 'refused', failure: unsent });
  if (purchase.isPaid && live.record.state === 'refused') call.paid.used -= 1;
  return { kind: 'done' };
}

/** The last look before the request leaves. Only a cancel is never tried again: whatever else stops it, the next owner buys. */
async function whyNotSent(services: Services, call: SkillCall, epoch: number): Promise<Failure | undefined> {
  const { id } = call.run.execution();
  if (call.run.stopping() === 'canceled') {
    return { kind: 'canceled', code: 'not-sent', message: 'canceled before it was sent' };
  }
  if (call.run.epoch() !== epoch) return letGo;
  return (await maySend(services, id, epoch)) ? undefined : takenOver;
}

/** Nothing was bought: the budget has it again. */
function giveBack(services: Services, call: SkillCall, estimate: Priced): void {
  const { labels, sourceRef } = call.run.execution();
  services.budgets.giveBack(labels, sourceRef, estimate.cnyMicros);
}

/** This process stops, or gave the execution up: whoever takes it up finds that nothing was sent, and buys. */
const letGo: Failure = {
  kind: 'network',
  code: 'not-sent',
  message: 'the worker let go of the execution before it was sent',
};

/** The other worker buys anew: it finds the attempt refused, and nothing was sent for it. */
const takenOver: Failure = {
  kind: 'network',
  code: 'not-sent',
  message: 'another worker had taken the execution over before it was sent',
};

function switchEvents(call: SkillCall, step: TryStep, nowMs: number): readonly StoreCommand[] {
  const from = step.switchedFrom === undefined ? undefined : call.skill.plan.candidates[step.switchedFrom];
  const to = call.skill.plan.candidates[step.candidate];
  if (from === undefined || to === undefined) return [];
  return [
    eventOf(call.run.execution(), nowMs, 'candidate-switched', {
      node: call.path,
      title: call.title,
      provider: from.provider,
      from: { provider: from.provider, model: from.model.id },
      to: { provider: to.provider, model: to.model.id },
      ...(step.because === undefined ? {} : { failure: failureData(step.because) }),
    }),
  ];
}
