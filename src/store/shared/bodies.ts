import { z } from 'zod';
import {
  type CapabilityId,
  isCapabilityId,
  isFailureKind,
  type Failure,
  type FailureKind,
} from '../../contract/index.ts';
import { type AttemptId, type ExecutionId, isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';

/**
 * Schemas of the stored bodies: what a record carries beside its key columns. They are read leniently (`readBody`): a
 * member that does not fit is replaced by its default, so that a row written by an older version or edited by hand never
 * keeps the worker from starting (P149).
 */
const jsonObject = z.custom<JsonObject>(isJsonObject);
const json = z.custom<Json>((value) => value !== undefined);
const instant = z.number();
const count = z.int().nonnegative();

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const parentId = z.custom<ExecutionId>((value) => typeof value === 'string' && uuid.test(value));
const attemptId = z.custom<AttemptId>((value) => typeof value === 'string' && uuid.test(value));
const failureKind = z.custom<FailureKind>((value) => typeof value === 'string' && isFailureKind(value));
const capabilityId = z.custom<CapabilityId>((value) => typeof value === 'string' && isCapabilityId(value));

const money = z.object({ currency: z.string(), micros: z.int() });
const failure = z.object({
  kind: failureKind.catch('internal'),
  code: z.string(),
  message: z.string(),
  advice: z.string().exactOptional(),
  provider: z.string().exactOptional(),
  httpStatus: z.number().exactOptional(),
  retryAfterMs: z.number().exactOptional(),
  evidence: jsonObject.exactOptional(),
}) satisfies z.ZodType<Failure>;
const mark = z.object({
  kind: z.enum(['degraded', 'switched', 'estimated', 'partial', 'late', 'adjusted']).catch('adjusted'),
  node: z.string(),
  text: z.string(),
});
const labels = z.object({
  agent: z.string().exactOptional(),
  agentHash: z.string().exactOptional(),
  stage: z.string().exactOptional(),
  submitter: z.string().exactOptional(),
});
const usage = z.record(z.string(), z.number());

export const executionBody = z.object({
  labels,
  workflow: z.string(),
  planHash: z.string(),
  generation: count,
  parentId: parentId.exactOptional(),
  input: jsonObject,
  output: jsonObject.exactOptional(),
  failure: failure.exactOptional(),
  marks: z.array(mark),
  createdAt: instant,
  startedAt: instant.exactOptional(),
  endedAt: instant.exactOptional(),
  cancelRequestedAt: instant.exactOptional(),
  activeMs: z.number().nonnegative(),
});
export const executionDefaults = {
  labels: {},
  workflow: '',
  planHash: '',
  generation: 0,
  input: {},
  marks: [],
  createdAt: 0,
  activeMs: 0,
};

export const nodeBody = z.object({
  branch: z.string().exactOptional(),
  output: json.exactOptional(),
  failure: failure.exactOptional(),
  degraded: z.boolean(),
  fingerprint: z.string().exactOptional(),
  startedAt: instant.exactOptional(),
  endedAt: instant.exactOptional(),
  progress: jsonObject.exactOptional(),
});
export const nodeDefaults = { degraded: false };

export const attemptBody = z.object({
  nodePath: z.string(),
  ordinal: count,
  sourceRef: z.string(),
  generation: count,
  provider: z.string(),
  model: z.string(),
  implementation: z.string(),
  adapterVersion: count,
  capability: capabilityId,
  mediaClass: z.enum(['text', 'image', 'video', 'free']),
  key: z.string(),
  request: jsonObject,
  handle: jsonObject.exactOptional(),
  intendedAt: instant,
  sender: z.string().exactOptional(),
  acceptedAt: instant.exactOptional(),
  settledAt: instant.exactOptional(),
  observedWaitMs: z.number().nonnegative(),
  deadlineMs: z.number().nonnegative(),
  polls: count,
  misses: count,
  failure: failure.exactOptional(),
  output: jsonObject.exactOptional(),
  cost: z.object({ amount: money.exactOptional(), usage: usage.exactOptional() }).exactOptional(),
  refusedOutput: z.array(z.string()).exactOptional(),
});
export const attemptDefaults = {
  nodePath: '',
  ordinal: 1,
  sourceRef: '',
  generation: 0,
  provider: '',
  model: '',
  implementation: '',
  adapterVersion: 1,
  capability: 'http.request',
  mediaClass: 'free',
  key: '',
  request: {},
  intendedAt: 0,
  observedWaitMs: 0,
  deadlineMs: 0,
  polls: 0,
  misses: 0,
};

export const chargeBody = z.object({
  labels,
  provider: z.string(),
  model: z.string(),
  source: z.enum(['vendor', 'price_table', 'unpriced', 'unknown']),
  amount: money,
  cnyMicros: z.int(),
  usage: usage.exactOptional(),
  settledAt: instant.exactOptional(),
});
export const chargeDefaults = {
  labels: {},
  provider: '',
  model: '',
  source: 'unknown',
  amount: { currency: 'CNY', micros: 0 },
  cnyMicros: 0,
};

export const outboxMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('ended'),
    status: z.enum(['succeeded', 'partial', 'failed', 'canceled']),
    output: jsonObject.exactOptional(),
    failure: failure.exactOptional(),
    marks: z.array(mark),
    activeMs: z.number(),
    failedNode: z.string().exactOptional(),
  }),
  z.object({
    kind: z.literal('held'),
    failure,
    attemptId,
    failedNode: z.string(),
    atRisk: money,
  }),
  z.object({ kind: z.literal('late-result'), attemptId, nodePath: z.string(), output: jsonObject }),
]);
export const outboxDefaults = { marks: [], activeMs: 0 };

/**
 * Reads a stored body. Members that do not fit fall back to the defaults, or are left out where optional; `onFault` hears
 * their names.
 */
export function readBody<Body>(
  schema: z.ZodType<Body>,
  defaults: Readonly<Record<string, unknown>>,
  stored: unknown,
  onFault: (members: readonly string[]) => void,
): Body {
  const strict = schema.safeParse(stored);
  if (strict.success) return strict.data;
  const faulty = new Set(strict.error.issues.map((issue) => String(issue.path[0] ?? '*')));
  onFault([...faulty]);
  const kept = isJsonObject(stored) ? Object.entries(stored).filter(([member]) => !faulty.has(member)) : [];
  return schema.parse({ ...defaults, ...Object.fromEntries(kept) });
}
