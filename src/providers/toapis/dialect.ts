import type { CapabilityId, FindOutcome, PreparedRequest, ProviderDeps } from '../../contract/index.ts';
import {
  checkFailure,
  failureOfAnswer,
  handleOf,
  isAboutAnother,
  mediaVerdict,
  type PollReading,
  readStatusWord,
  type SubmitReading,
  type TaskDialect,
  type TaskHandle,
  type Upload,
  type VendorLine,
} from '../common/index.ts';
import type { HttpAnswer } from '../http/index.ts';
import { billed, isMissing, readToapisError, taskError } from './codes.ts';
import { toapisPictureLimits } from './upload.ts';
import { taskSchema } from './wire.ts';

const version = 1;

type JsonAnswer = Extract<HttpAnswer, { readonly kind: 'json' }>;

/** Pictures and videos differ in their path only. */
export function createToapisDialect(
  kind: 'image' | 'video',
  baseUrl: string,
  upload: Upload,
  line: VendorLine,
  deps: ProviderDeps,
): TaskDialect {
  const path = `${baseUrl}/v1/${kind}s/generations`;
  const capability: CapabilityId = kind === 'image' ? 'image.generate' : 'video.generate';
  return {
    implementation: `toapis.${kind}`,
    version,
    capabilities: [capability],
    upload,
    pictureLimits: toapisPictureLimits,
    buildPayload: (body, call) => ({ ...body, model: call.model.model, client_business_id: call.key }),
    submitRequest: () => ({ url: path }),
    readSubmit,
    queryUrl: ({ taskId }) => `${path}/${encodeURIComponent(taskId)}`,
    readPoll: (answer, handle) => readTask(answer, { ...handle, media: kind }, baseUrl, deps.clock.nowMs()),
    find: async (request, signal) => {
      const url = `${path}/${encodeURIComponent(request.key)}`;
      const answer = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
      return readFound(answer, request, line);
    },
  };
}

/** A body error counts before the status; a 200 with an error and without an id was a refusal said politely. */
function readSubmit(answer: JsonAnswer): SubmitReading | undefined {
  const task = taskSchema.safeParse(answer.json);
  const id = task.data?.id;
  if (answer.status < 300 && typeof id === 'string') return { kind: 'task', taskId: id };
  const error = readToapisError(answer.json);
  if (error === undefined) return undefined;
  return answer.status < 300 ? { kind: 'error', error, outcome: 'unknown' } : { kind: 'error', error };
}

function readTask(answer: JsonAnswer, handle: TaskHandle, baseUrl: string, nowMs: number): PollReading | undefined {
  const error = readToapisError(answer.json);
  if (answer.status >= 400) return missingOrError(answer, error);
  const parsed = taskSchema.safeParse(answer.json);
  if (!parsed.success || isAboutAnother(parsed.data.id, handle)) return undefined;
  const { status, progress, billing, fail_reason, result, url, expires_at, completed_at } = parsed.data;
  if (status === undefined || status === null) return missingOrError(answer, error);
  const cost = billed(billing);
  switch (readStatusWord(status)) {
    case 'running':
      return {
        kind: 'running',
        statusWord: status,
        ...(typeof progress === 'number' ? { progressPct: progress } : {}),
      };
    case 'succeeded': {
      const expiresAt = epochMs(expires_at);
      return mediaVerdict([...(result?.data ?? []).map((item) => item.url), url].flat(), handle, {
        baseUrl,
        cost,
        nowMs,
        completedAt: epochMs(completed_at),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      });
    }
    case 'failed':
      return { kind: 'failed', error: taskError(answer.json, fail_reason), cost };
    case 'expired':
      return { kind: 'expired', error: { ...taskError(answer.json, fail_reason), kind: 'expired' } };
    case 'canceled':
      return { kind: 'canceled', cost };
    case undefined:
      return { kind: 'unrecognised', statusWord: status };
  }
}

function missingOrError(answer: JsonAnswer, error: ReturnType<typeof readToapisError>): PollReading | undefined {
  if (answer.status === 404 || isMissing(error)) return { kind: 'not-visible' };
  return error === undefined ? undefined : { kind: 'error', error };
}

/** The same GET takes our own id in place of the task's: that is how a submit without an answer is found again. */
function readFound(answer: HttpAnswer, request: PreparedRequest, line: VendorLine): FindOutcome {
  if (answer.kind === 'json') {
    const task = taskSchema.safeParse(answer.json);
    const error = readToapisError(answer.json);
    if (answer.status === 404 || isMissing(error)) return { kind: 'not-found' };
    if (answer.status < 300 && typeof task.data?.id === 'string' && typeof task.data.status === 'string') {
      return { kind: 'found', handle: handleOf(task.data.id, request, { account: line.context().provider, version }) };
    }
    if (error !== undefined) {
      return { kind: 'check-failed', failure: failureOfAnswer(answer, line.context(), error) };
    }
  }
  if (answer.kind !== 'none' && answer.status === 404) {
    // A 404 that is not toapis's own JSON comes from a wrong address: it proves nothing about the task.
    return { kind: 'check-failed', failure: failureOfAnswer(answer, line.context()) };
  }
  return { kind: 'check-failed', failure: checkFailure(answer, line.context()) };
}

function epochMs(value: number | string | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'number' || /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isFinite(number)) return number < 1e11 ? number * 1_000 : number;
  const parsed = Date.parse(String(value));
  return Number.isNaN(parsed) ? undefined : parsed;
}
