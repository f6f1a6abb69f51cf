import { type Failure, isArtifact, type RetryDefinition } from '../../contract/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import type { LiveSkill } from '../graph/live.ts';
import { isJsonList } from '../graph/path.ts';
import { hashOf } from '../graph/plan.ts';
import type { AttemptRecord } from '../ports/index.ts';
import { buildCapabilityInput } from '../skill/request.ts';
import { roomsOf } from './buy.ts';
import { usablePurchase } from './inherit.ts';
import { engineFault, readAgain } from './read-again.ts';
import type { Services } from './services.ts';
import { recordUnknown } from './submit.ts';
import type { CallEnd, CallOwner, CallRun, CallTry, LiveAttempt, PaidCalls, SkillCall } from './types.ts';

export interface CallRequest {
  readonly run: CallRun;
  readonly owner: CallOwner;
  readonly path: string;
  readonly title: string;
  readonly skill: LiveSkill;
  readonly input: JsonObject;
  readonly params: JsonObject;
  readonly retry: RetryDefinition | undefined;
  readonly paid: PaidCalls;
  /** Tells equal items of a map apart (the third equal one is 2), and what a judge is shown. */
  readonly occurrence: number | string;
  readonly deadlineAt: number | undefined;
  /** False where a rerun asks for this node anew. */
  readonly mayReuse: boolean;
  /** Wakes the call: `advance`. */
  readonly wake: (call: SkillCall) => void;
}

export type OpenedCall =
  | { readonly kind: 'call'; readonly call: SkillCall; readonly fingerprint: string }
  /** Over before it began: a remembered result, an input that does not fit, a stop while the store could not be read. */
  | { readonly kind: 'end'; readonly end: CallEnd; readonly fingerprint: string | undefined };

/**
 * Begins a call, or takes it up after a crash: its history is read back from the attempts on disk. An intent without an
 * answer is of unknown outcome; nothing is sent for it again. A store that cannot be read is asked again; anything else
 * that goes wrong is the call's end (`request` is made in here, since a mapping or a stored plan may be at fault). It
 * throws only where the engine stops.
 */
export async function openCall(services: Services, path: string, request: () => CallRequest): Promise<OpenedCall> {
  try {
    return await open(services, request());
  } catch (error) {
    if (services.signal.aborted) throw error;
    return {
      kind: 'end',
      end: { kind: 'failed', failure: engineFault(services, path, error) },
      fingerprint: undefined,
    };
  }
}

async function open(services: Services, request: CallRequest): Promise<OpenedCall> {
  const { skill, input, params } = request;
  const built = buildCapabilityInput(skill, { input, params, feedback: [] });
  if (!built.ok) return { kind: 'end', end: { kind: 'failed', failure: built.failure }, fingerprint: undefined };
  const fingerprint = fingerprintOf(request, built.value);
  const tries = await readTries(services, request);
  let inherited: LiveAttempt | undefined;
  if (request.mayReuse && tries.length === 0) {
    const { store } = services.deps;
    const why = (): CallEnd | undefined => whyNot(services, request);
    const found = await readAgain(services, async () => await store.remembered(fingerprint), why);
    if (!found.ok) return { kind: 'end', end: found.failure, fingerprint };
    const remembered = found.value;
    const isUsable =
      remembered !== undefined &&
      !(remembered.degraded && isReusedAlways(skill)) &&
      (await isHeld(services, remembered.output));
    if (isUsable) {
      const marks = remembered.degraded
        ? [{ kind: 'degraded', node: request.path, text: `「${request.title}」沿用了之前的降级结果` } as const]
        : [];
      const { attemptId } = remembered;
      const end: CallEnd = {
        kind: 'succeeded',
        output: remembered.output,
        degraded: remembered.degraded,
        marks,
        isReused: true,
        ...(attemptId === undefined ? {} : { attemptId }),
      };
      return { kind: 'end', end, fingerprint };
    }
    const usable = await readAgain(services, async () => await usablePurchase(services, fingerprint), why);
    if (!usable.ok) return { kind: 'end', end: usable.failure, fingerprint };
    if (usable.value !== undefined) inherited = { record: usable.value, charge: undefined };
  }
  request.run.tookAttempts(request.path);
  const call = createCall(request, fingerprint, tries, inherited);
  // One that is taken up again has not asked: it does before it buys.
  if (request.mayReuse)
    call.lookedAtMs = tries.length === 0 ? services.deps.clock.monotonicMs() : Number.NEGATIVE_INFINITY;
  keepRoom(services, call);
  request.run.opened(call);
  return { kind: 'call', call, fingerprint };
}

function createCall(
  request: CallRequest,
  fingerprint: string,
  tries: CallTry[],
  inherited: LiveAttempt | undefined,
): SkillCall {
  const { run, owner, path, title, skill, input, params, retry, paid, deadlineAt, wake } = request;
  const call: SkillCall = {
    run,
    owner,
    path,
    title,
    skill,
    input,
    params,
    retry,
    paid,
    fingerprint,
    deadlineAt,
    tries,
    inherited,
    lookedAtMs: undefined,
    state: 'idle',
    isAgain: false,
    slots: [],
    slotsFor: undefined,
    mayHoldClaim: tries.length > 0,
    releasing: undefined,
    queuedFor: undefined,
    notBefore: undefined,
    dueMs: 0,
    slot: -1,
    onDue: () => {
      wake(call);
    },
    go: () => {
      call.slots = call.queuedFor?.names ?? [];
      call.slotsFor = call.queuedFor?.candidate;
      call.queuedFor = undefined;
      wake(call);
    },
  };
  return call;
}

/** Never candidates, providers, prices or policies: exchanging a vendor re-buys nothing. */
function fingerprintOf(request: CallRequest, input: JsonObject): string {
  const execution = request.run.execution();
  const { definition } = request.skill.plan;
  return hashOf({
    format: 1,
    source: execution.sourceRef,
    generation: isReusedAlways(request.skill) ? 0 : execution.generation,
    node: request.path.replaceAll(/\[\d+\]/g, '[]').replace(/#judge(\d+)\.\d+$/, '#judge$1'),
    occurrence: request.occurrence,
    capability: definition.capability,
    input: byContent(input),
    ...(definition.parse === undefined ? {} : { parse: definition.parse }),
  });
}

/** What it makes is good for every generation of the row, as long as its inputs are the same. */
function isReusedAlways(skill: LiveSkill): boolean {
  return skill.plan.definition.reuse === 'always';
}

/** A result whose files are gone (another disk, another machine) is had from its vendor again, or made again. */
async function isHeld(services: Services, value: Json | undefined): Promise<boolean> {
  const { collector } = services.deps;
  if (isArtifact(value)) return (await collector.holds?.(value)) ?? true;
  const members = isJsonObject(value) ? Object.values(value) : isJsonList(value) ? value : [];
  for (const member of members) if (!(await isHeld(services, member))) return false;
  return true;
}

/** Files count by their content: name and place do not matter. */
function byContent(value: Json | undefined): Json {
  if (isArtifact(value)) return { hash: value.hash };
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, byContent(each)]));
  return isJsonList(value) ? value.map(byContent) : (value ?? null);
}

async function readTries(services: Services, request: CallRequest): Promise<CallTry[]> {
  const { run, skill } = request;
  const tries: CallTry[] = [];
  // The sum at risk is for the row of a call in doubt: who cancels does without.
  const unneeded = (): 'unneeded' | undefined =>
    run.stopping() === 'canceled' || run.epoch() === undefined ? 'unneeded' : undefined;
  for (const stored of run.attemptsOf(request.path)) {
    // What is under way at a vendor is looked up again only when it settles: a restart has thousands of these.
    const charges =
      stored.state === 'accepted'
        ? undefined
        : await readAgain(services, async () => await services.deps.store.chargesOfAttempt(stored.id), unneeded);
    const live: LiveAttempt = { record: stored, charge: charges?.ok === true ? charges.value[0] : undefined };
    // It may be paid for: written whatever is asked meanwhile.
    if (stored.state === 'intended') {
      const record = async (): Promise<void> => await recordUnknown(services, live, crashed(stored));
      await readAgain(services, record, () => undefined);
    }
    tries.push({ candidate: candidateOf(skill, stored), attempt: live, at: stored.intendedAt });
  }
  return tries;
}

/** Why a call that has bought nothing need not begin any more: it ends so. Undefined while it is wanted. */
function whyNot(services: Services, { run, deadlineAt }: CallRequest): CallEnd | undefined {
  if (run.stopping() !== undefined || run.epoch() === undefined) return { kind: 'canceled' };
  if (deadlineAt === undefined || services.deps.clock.nowMs() < deadlineAt) return undefined;
  const message = 'the time limit of the node has passed while the store could not be read';
  return { kind: 'failed', failure: { kind: 'timeout', code: 'node-timeout', message } };
}

function crashed(record: AttemptRecord): Failure {
  return {
    kind: 'unknown-outcome',
    code: 'interrupted',
    message: 'the program stopped between the intent and the vendor’s answer',
    provider: record.provider,
  };
}

function candidateOf(skill: LiveSkill, record: AttemptRecord): number {
  const found = skill.plan.candidates.findIndex(
    (each) => each.provider === record.provider && each.model.id === record.model,
  );
  return Math.max(0, found);
}

/** A task that runs at the vendor already keeps its room there, whatever the limit says now. */
function keepRoom(services: Services, call: SkillCall): void {
  const open = call.tries.find((each) => each.attempt?.record.state === 'accepted')?.attempt?.record;
  if (open === undefined) return;
  const rooms = roomsOf(open.provider, open.model, undefined);
  services.gates.force(rooms);
  call.slots = rooms;
}
