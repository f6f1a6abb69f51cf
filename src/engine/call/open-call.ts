import { type Failure, isArtifact, type RetryDefinition } from '../../contract/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import type { LiveSkill } from '../graph/live.ts';
import { isJsonList } from '../graph/path.ts';
import { hashOf } from '../graph/plan.ts';
import type { AttemptRecord } from '../ports/index.ts';
import { buildCapabilityInput } from '../skill/request.ts';
import { roomsOf } from './buy.ts';
import { usablePurchase } from './inherit.ts';
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
  /** Over before it began: a remembered result, or an input that does not fit. */
  | { readonly kind: 'end'; readonly end: CallEnd; readonly fingerprint: string | undefined };

/**
 * Begins a call, or takes it up after a crash: its history is read back from the attempts on disk. An intent without an
 * answer is of unknown outcome; nothing is sent for it again.
 */
export async function openCall(services: Services, request: CallRequest): Promise<OpenedCall> {
  const { skill, input, params } = request;
  const built = buildCapabilityInput(skill, { input, params, feedback: [] });
  if (!built.ok) return { kind: 'end', end: { kind: 'failed', failure: built.failure }, fingerprint: undefined };
  const fingerprint = fingerprintOf(request, built.value);
  const tries = await readTries(services, request);
  let inherited: LiveAttempt | undefined;
  if (request.mayReuse && tries.length === 0) {
    const { store } = services.deps;
    const remembered = await store.remembered(fingerprint);
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
    const usable = await usablePurchase(services, fingerprint);
    if (usable !== undefined) inherited = { record: usable, charge: undefined };
  }
  const call = createCall(request, fingerprint, tries, inherited);
  // One that is taken up again has not asked: it does before it buys.
  if (request.mayReuse)
    call.lookedAtMs = tries.length === 0 ? services.deps.clock.monotonicMs() : Number.NEGATIVE_INFINITY;
  keepRoom(services, call);
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
  const tries: CallTry[] = [];
  for (const stored of request.run.attemptsOf(request.path)) {
    // What is under way at a vendor is looked up again only when it settles: a restart has thousands of these.
    const charges = stored.state === 'accepted' ? [] : await services.deps.store.chargesOfAttempt(stored.id);
    const live: LiveAttempt = { record: stored, charge: charges[0] };
    if (stored.state === 'intended') await recordUnknown(services, live, crashed(stored));
    tries.push({ candidate: candidateOf(request.skill, stored), attempt: live, at: stored.intendedAt });
  }
  return tries;
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
