import { capability, type ModelSettings, type PreparedRequest } from '../../contract/index.ts';
import { attemptId, chargeId, type JsonObject } from '../../kernel/index.ts';
import type { PlanCandidate } from '../graph/plan.ts';
import type { Priced } from '../policy/pricing.ts';
import type { AttemptRecord, ChargeRecord } from '../ports/index.ts';
import type { Services } from './services.ts';
import type { SkillCall } from './types.ts';

/** What is about to be bought. */
export interface Purchase {
  readonly candidate: PlanCandidate;
  readonly estimate: Priced;
  readonly isPaid: boolean;
  readonly request: PreparedRequest;
  readonly input: JsonObject;
}

export function nextOrdinal(call: SkillCall): number {
  return call.tries.filter((each) => each.attempt !== undefined).length + 1;
}

export function intentRecord(services: Services, call: SkillCall, purchase: Purchase, nowMs: number): AttemptRecord {
  const execution = call.run.execution();
  const { candidate, request } = purchase;
  const { capability: id } = call.skill.plan.definition;
  const adapter = services.adapter(candidate.provider, candidate.model.implementation);
  return {
    id: attemptId(services.deps.ids.uuid()),
    executionId: execution.id,
    nodePath: call.path,
    ordinal: nextOrdinal(call),
    sourceRef: execution.sourceRef,
    generation: execution.generation,
    provider: candidate.provider,
    model: candidate.model.id,
    implementation: candidate.model.implementation,
    adapterVersion: adapter?.version ?? request.version,
    capability: id,
    mediaClass: capability(id).mediaClass,
    state: 'intended',
    key: request.key,
    fingerprint: call.fingerprint,
    // Beside what is sent: what a late bill is priced by, long after this process.
    request: { ...request, input: purchase.input, ...priceOf(candidate.model) },
    intendedAt: nowMs,
    ...(services.deps.peers === undefined ? {} : { sender: services.deps.owner }),
    observedWaitMs: 0,
    deadlineMs: deadlineOf(services, call, candidate.model, nowMs),
    polls: 0,
    misses: 0,
  };
}

function priceOf(model: ModelSettings): JsonObject {
  return model.price === undefined ? {} : { price: { ...model.price } };
}

function deadlineOf(services: Services, call: SkillCall, model: ModelSettings, nowMs: number): number {
  const { mediaClass } = capability(call.skill.plan.definition.capability);
  const usualMs =
    model.deadline ?? services.deps.settings.vendor_poll[mediaClass === 'free' ? 'text' : mediaClass].deadline;
  return call.deadlineAt === undefined ? usualMs : Math.max(1_000, Math.min(usualMs, call.deadlineAt - nowMs));
}

export function reservation(
  services: Services,
  call: SkillCall,
  record: AttemptRecord,
  estimate: Priced,
): ChargeRecord {
  return {
    id: chargeId(services.deps.ids.uuid()),
    attemptId: record.id,
    executionId: record.executionId,
    sourceRef: record.sourceRef,
    labels: call.run.execution().labels,
    provider: record.provider,
    model: record.model,
    state: 'reserved',
    reservedAt: record.intendedAt,
    ...estimate,
  };
}
