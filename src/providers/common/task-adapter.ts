import { z } from 'zod';
import type {
  Adapter,
  CancelOutcome,
  CapabilityId,
  Failure,
  FindOutcome,
  PictureLimits,
  PollOutcome,
  PrepareCall,
  PreparedRequest,
  ProviderDeps,
  ReportedCost,
  SubmitOutcome,
} from '../../contract/index.ts';
import { fail, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import type { HttpAnswer, HttpCall } from '../http/index.ts';
import { fillMedia, type MappingFault, mapInput } from '../mapping/index.ts';
import { handleOf, parseHandle, type TaskHandle } from './handle.ts';
import { type Upload, uploadMedia } from './uploads.ts';
import { type AnswerContext, failureOfAnswer, isRefusalStatus, type VendorError } from './vendor-error.ts';
import type { VendorLine } from './vendor-line.ts';

type JsonAnswer = Extract<HttpAnswer, { readonly kind: 'json' }>;

/** What a vendor's submit answer says. `error` without `outcome` is judged by the HTTP status. */
export type SubmitReading =
  | { readonly kind: 'task'; readonly taskId: string }
  | { readonly kind: 'done'; readonly output: JsonObject; readonly cost: ReportedCost }
  | {
      readonly kind: 'error';
      readonly error: VendorError;
      readonly outcome?: 'refused' | 'unknown' | 'failed';
      readonly cost?: ReportedCost;
    };

/** What a vendor's status answer says. `error`: the check itself was turned away. */
export type PollReading =
  | Exclude<PollOutcome, { readonly kind: 'failed' | 'expired' | 'check-failed' }>
  | { readonly kind: 'failed'; readonly error: VendorError; readonly cost: ReportedCost }
  | { readonly kind: 'expired'; readonly error: VendorError }
  | { readonly kind: 'error'; readonly error: VendorError };

/** Where the submit/poll dialects of the vendors differ. Undefined readings: the answer made no sense. */
export interface TaskDialect {
  readonly implementation: string;
  readonly version: number;
  readonly capabilities: readonly CapabilityId[];
  readonly upload: Upload;
  /** What the vendor takes of a picture. */
  readonly pictureLimits: PictureLimits;
  /** The JSON that `submit` sends, from the mapped body. */
  buildPayload(body: JsonObject, call: PrepareCall): JsonObject;
  /** Last touch at submit, before anything is sent: puts inline what is too large to be stored with the intent. */
  finishPayload?(payload: JsonObject, signal: AbortSignal): Promise<Result<JsonObject, Failure>>;
  submitRequest(
    request: PreparedRequest,
    payload: JsonObject,
  ): Pick<HttpCall, 'url'> & Partial<Pick<HttpCall, 'headers'>>;
  readSubmit(answer: JsonAnswer): SubmitReading | undefined | Promise<SubmitReading | undefined>;
  queryUrl(handle: TaskHandle): string;
  readPoll(answer: JsonAnswer, handle: TaskHandle): PollReading | undefined;
  readonly find?: (request: PreparedRequest, signal: AbortSignal) => Promise<FindOutcome>;
  /** PreparedRequest's `likeness`, where `find` goes by what a task shows. */
  readonly likeness?: (payload: JsonObject) => string;
  readonly cancel?: (handle: JsonObject, signal: AbortSignal) => Promise<CancelOutcome>;
}

const bodySchema = z.object({
  payload: z.record(z.string(), z.json()),
  seconds: z.number().optional(),
  preparedAt: z.number().optional(),
});

/** The model's name at the vendor, as the payload of a prepared request carries it. */
export function vendorModelOf(request: PreparedRequest): string {
  const { model } = parsePrepared(request).payload;
  return typeof model === 'string' ? model : '';
}

/** The stored body of a prepared request, parsed again. */
export function parsePrepared(request: PreparedRequest): z.infer<typeof bodySchema> {
  return bodySchema.parse(request.body);
}

/** The frame that all submit/poll adapters share; a dialect fills in what the vendor does its own way. */
export function createTaskAdapter(deps: ProviderDeps, line: VendorLine, dialect: TaskDialect): Adapter {
  const { implementation, version, find, cancel } = dialect;
  return {
    implementation,
    version,
    capabilities: dialect.capabilities,
    prepare: async (call, signal) => await prepare(deps, dialect, call, signal),
    submit: async (request, signal) => await submit(deps, line, dialect, request, signal),
    poll: async (handle, signal) => await poll(deps, line, dialect, parseHandle(handle), signal),
    handleFor: (taskId, request) => handleOf(taskId, request, { account: deps.account.id, version }),
    ...(find === undefined ? {} : { find }),
    ...(cancel === undefined ? {} : { cancel }),
  };
}

async function prepare(
  deps: ProviderDeps,
  dialect: TaskDialect,
  call: PrepareCall,
  signal: AbortSignal,
): Promise<Result<PreparedRequest, Failure>> {
  const mapped = mapInput(call.model, call.input);
  if (!mapped.ok) return fail(inputFailure(mapped.failure, deps.account.id));
  const urls = await uploadMedia(
    mapped.value,
    deps.media,
    { upload: dialect.upload, limits: dialect.pictureLimits },
    signal,
  );
  if (!urls.ok) return fail(urls.failure);
  const payload = dialect.buildPayload(fillMedia(mapped.value, urls.value), call);
  const seconds = Number(mapped.value.values['durationS'] ?? call.input['durationS'] ?? Number.NaN);
  const { adjustments } = mapped.value;
  return ok({
    implementation: dialect.implementation,
    version: dialect.version,
    key: call.key,
    model: call.model.id,
    capability: call.capability,
    body: { payload, preparedAt: deps.clock.nowMs(), ...(Number.isFinite(seconds) ? { seconds } : {}) },
    ...(adjustments.length === 0 ? {} : { adjustments }),
    ...(dialect.likeness === undefined ? {} : { likeness: dialect.likeness(payload) }),
  });
}

export function inputFailure(fault: MappingFault, provider: string): Failure {
  return {
    kind: 'invalid-input',
    code: `input.${fault.name}`,
    message: fault.what,
    provider,
    evidence: { field: fault.name },
  };
}

async function submit(
  deps: ProviderDeps,
  line: VendorLine,
  dialect: TaskDialect,
  request: PreparedRequest,
  signal: AbortSignal,
): Promise<SubmitOutcome> {
  const { payload } = parsePrepared(request);
  const finished = (await dialect.finishPayload?.(payload, signal)) ?? ok(payload);
  if (!finished.ok) return { kind: 'refused', failure: { ...finished.failure, provider: deps.account.id } };
  const call = dialect.submitRequest(request, payload);
  const body = { json: finished.value };
  const answer = await line.send({ method: 'POST', body, ...call }, deps.timeouts.submitMs, signal);
  const reading = answer.kind === 'json' ? await dialect.readSubmit(answer) : undefined;
  if (reading?.kind === 'done') return { kind: 'completed', output: reading.output, cost: reading.cost };
  if (reading?.kind === 'task') {
    const acceptedAt = deps.clock.nowMs();
    const facts = { account: deps.account.id, version: dialect.version, acceptedAt };
    return { kind: 'accepted', handle: handleOf(reading.taskId, request, facts) };
  }
  return unhappySubmit(answer, line.context(), reading);
}

/** Sorts a submit that gave no task by one question: was something bought? */
export function unhappySubmit(
  answer: HttpAnswer,
  context: AnswerContext,
  reading: Extract<SubmitReading, { readonly kind: 'error' }> | undefined,
): SubmitOutcome {
  const failure = failureOfAnswer(answer, context, reading?.error);
  const isRefusal = answer.kind === 'none' ? answer.phase === 'not-sent' : isRefusalStatus(answer.status);
  const outcome = reading?.outcome ?? (isRefusal ? 'refused' : 'unknown');
  if (outcome === 'failed') return { kind: 'failed', failure, cost: reading?.cost ?? {} };
  if (outcome === 'refused') return { kind: 'refused', failure };
  return { kind: 'unknown', failure: { ...failure, kind: 'unknown-outcome' } };
}

async function poll(
  deps: ProviderDeps,
  line: VendorLine,
  dialect: TaskDialect,
  handle: TaskHandle,
  signal: AbortSignal,
): Promise<PollOutcome> {
  const answer = await line.send({ method: 'GET', url: dialect.queryUrl(handle) }, deps.timeouts.queryMs, signal);
  const reading = answer.kind === 'json' ? dialect.readPoll(answer, handle) : undefined;
  if (reading === undefined) return { kind: 'check-failed', failure: checkFailure(answer, line.context()) };
  switch (reading.kind) {
    case 'error':
      return { kind: 'check-failed', failure: failureOfAnswer(answer, line.context(), reading.error) };
    case 'failed':
      return { kind: 'failed', failure: failureOfAnswer(answer, line.context(), reading.error), cost: reading.cost };
    case 'expired':
      return { kind: 'expired', failure: failureOfAnswer(answer, line.context(), reading.error) };
    case 'running':
    case 'succeeded':
    case 'canceled':
    case 'not-visible':
    case 'unrecognised':
      return reading;
  }
}

/** A check that gave no sense says nothing about the task; an unreadable 200 is the vendor's fault, not the input's. */
export function checkFailure(answer: HttpAnswer, context: AnswerContext): Failure {
  const failure = failureOfAnswer(answer, context);
  return answer.kind !== 'none' && answer.status < 300 ? { ...failure, kind: 'unavailable' } : failure;
}
