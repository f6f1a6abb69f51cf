import type { CapabilityId, ProviderDeps } from '../../contract/index.ts';
import {
  createInlineMedia,
  isAboutAnother,
  mediaVerdict,
  type PollReading,
  readStatusWord,
  type SubmitReading,
  type TaskDialect,
  type TaskHandle,
  type VendorLine,
} from '../common/index.ts';
import type { HttpAnswer } from '../http/index.ts';
import { cancelTask } from './cancel.ts';
import { readDashScopeError, taskError } from './codes.ts';
import { findTask, likenessOf } from './find.ts';
import { taskSchema } from './wire.ts';

const version = 1;

type JsonAnswer = Extract<HttpAnswer, { readonly kind: 'json' }>;

/** Pictures travel inline; about 10 MB of base64 is the most that is taken. */
const pictureLimits = { maxSidePx: 4_096, maxBytes: 7_000_000, mimes: ['image/jpeg', 'image/png', 'image/webp'] };
/** Records and addresses last 24 hours. */
const recordLifeMs = 24 * 3_600_000;

export interface Service {
  readonly implementation: string;
  readonly capability: CapabilityId;
  /** Below `/api/v1/services/aigc/`. */
  readonly path: string;
}

/** The asynchronous services differ in their path only. */
export function createDashScopeDialect(
  service: Service,
  baseUrl: string,
  line: VendorLine,
  deps: ProviderDeps,
): TaskDialect {
  const inline = createInlineMedia(deps.media, pictureLimits);
  const tasks = `${baseUrl}/api/v1/tasks`;
  return {
    implementation: service.implementation,
    version,
    capabilities: [service.capability],
    upload: inline.upload,
    pictureLimits,
    buildPayload: (body, call) => ({ ...body, model: call.model.model }),
    finishPayload: inline.finish,
    submitRequest: () => ({
      url: `${baseUrl}/api/v1/services/aigc/${service.path}`,
      headers: { 'x-dashscope-async': 'enable' },
    }),
    readSubmit,
    queryUrl: ({ taskId }) => `${tasks}/${encodeURIComponent(taskId)}`,
    readPoll: (answer, handle) => readTask(answer, handle, baseUrl, deps.clock.nowMs()),
    find: async (request, signal) => await findTask({ tasksUrl: tasks, request, line, deps, signal }, version),
    likeness: likenessOf,
    cancel: async (handle, signal) => await cancelTask(tasks, handle, line, deps, signal),
  };
}

function readSubmit(answer: JsonAnswer): SubmitReading | undefined {
  const task = taskSchema.safeParse(answer.json).data;
  const id = task?.output.task_id;
  if (answer.status < 300 && typeof id === 'string') return { kind: 'task', taskId: id };
  const error = readDashScopeError(answer.json);
  return error === undefined ? undefined : { kind: 'error', error };
}

function readTask(answer: JsonAnswer, handle: TaskHandle, baseUrl: string, nowMs: number): PollReading | undefined {
  const error = readDashScopeError(answer.json);
  const task = answer.status < 300 ? taskSchema.safeParse(answer.json).data : undefined;
  const word = task?.output.task_status;
  if (task === undefined || word === undefined || word === null) {
    return error === undefined ? undefined : { kind: 'error', error };
  }
  const { output, usage } = task;
  if (isAboutAnother(output.task_id, handle)) return undefined;
  // UNKNOWN comes with 200, for a record that is past its day and for one that never was.
  if (word.trim().toUpperCase() === 'UNKNOWN') {
    const isPast = handle.acceptedAt !== undefined && nowMs - handle.acceptedAt >= recordLifeMs;
    return isPast
      ? { kind: 'expired', error: { code: 'UNKNOWN', message: 'the record is past its 24 hours', kind: 'expired' } }
      : { kind: 'not-visible' };
  }
  switch (readStatusWord(word)) {
    case 'running':
      return { kind: 'running', statusWord: word };
    case 'succeeded':
      return readSuccess(output, usage, handle, {
        baseUrl,
        nowMs,
        expiresAt: (handle.acceptedAt ?? nowMs) + recordLifeMs,
      });
    case 'failed':
      return {
        kind: 'failed',
        error: taskError(output.code, output.message),
        cost: { usage: { calls: 0, seconds: 0, images: 0 } },
      };
    case 'expired':
      return { kind: 'expired', error: { ...taskError(output.code, output.message), kind: 'expired' } };
    case 'canceled':
      return { kind: 'canceled', cost: {} };
    case undefined:
      return { kind: 'unrecognised', statusWord: word };
  }
}

type Task = ReturnType<typeof taskSchema.parse>;

/** A task of several parts succeeds when one did; the others carry a code. */
function readSuccess(
  output: Task['output'],
  usage: Task['usage'],
  handle: TaskHandle,
  where: { readonly baseUrl: string; readonly nowMs: number; readonly expiresAt: number },
): PollReading {
  const parts = output.results ?? [];
  const verdict = mediaVerdict([output.video_url, ...parts.map((part) => part.url)], handle, { ...where, cost: {} });
  if (verdict.kind !== 'succeeded') {
    const refused = parts.find((part) => typeof part.code === 'string');
    return refused === undefined
      ? verdict
      : { kind: 'failed', error: taskError(refused.code, refused.message), cost: {} };
  }
  const seconds = usage?.video_duration ?? usage?.duration;
  const images = usage?.image_count;
  return {
    ...verdict,
    cost: {
      usage: {
        ...verdict.cost.usage,
        ...(typeof seconds === 'number' && handle.media !== 'image' ? { seconds } : {}),
        ...(typeof images === 'number' ? { images } : {}),
      },
    },
  };
}
