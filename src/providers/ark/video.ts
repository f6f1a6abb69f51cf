import { createHash } from 'node:crypto';
import type { FindOutcome, PreparedRequest, ProviderDeps } from '../../contract/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import {
  checkFailure,
  createInlineMedia,
  failureOfAnswer,
  handleOf,
  isAboutAnother,
  mediaVerdict,
  type PollReading,
  readStatusWord,
  type SubmitReading,
  type TaskDialect,
  type TaskHandle,
  type VendorLine,
  vendorModelOf,
} from '../common/index.ts';
import type { HttpAnswer } from '../http/index.ts';
import { cancelTask } from './cancel.ts';
import { missingTaskCodes, readArkError, taskError } from './codes.ts';
import { arkPictureLimits } from './limits.ts';
import { createdSchema, listSchema, taskSchema } from './wire.ts';

const version = 1;

type JsonAnswer = Extract<HttpAnswer, { readonly kind: 'json' }>;

/** Tasks listed on one page; the vendor's largest. */
const pageSize = 500;

/** Seedance: tasks, found again by `safety_identifier`, which carries our purchase key. */
export function createArkVideoDialect(baseUrl: string, line: VendorLine, deps: ProviderDeps): TaskDialect {
  const path = `${baseUrl}/contents/generations/tasks`;
  const inline = createInlineMedia(deps.media, arkPictureLimits);
  return {
    implementation: 'ark.video',
    version,
    capabilities: ['video.generate'],
    upload: inline.upload,
    pictureLimits: arkPictureLimits,
    buildPayload: (body, call) => ({
      ...withContent(body),
      model: call.model.model,
      safety_identifier: safetyIdentifier(call.key),
    }),
    finishPayload: inline.finish,
    submitRequest: () => ({ url: path }),
    readSubmit,
    queryUrl: ({ taskId }) => `${path}/${encodeURIComponent(taskId)}`,
    readPoll: (answer, handle) => readTask(answer, handle, baseUrl, deps.clock.nowMs()),
    find: async (request, signal) => {
      const query = `page_num=1&page_size=${pageSize}&filter.model=${encodeURIComponent(vendorModelOf(request))}`;
      const answer = await line.send({ method: 'GET', url: `${path}?${query}` }, deps.timeouts.queryMs, signal);
      return readFound(answer, request, line);
    },
    cancel: async (handle, signal) => await cancelTask(path, handle, line, deps, signal),
  };
}

/** At most 64 characters: a longer key goes by its hash. */
function safetyIdentifier(key: string): string {
  return key.length <= 64 ? key : createHash('sha256').update(key).digest('hex');
}

/** The mapper gives `prompt` and `images` (address and role); Ark wants one list of parts. */
function withContent(body: JsonObject): JsonObject {
  const { prompt, images, ...rest } = body;
  const list: readonly Json[] = isJsonList(images) ? images : [];
  const pictures = list.map((image) =>
    isJsonObject(image)
      ? { type: 'image_url', image_url: { url: image['url'] }, role: image['role'] }
      : { type: 'image_url', image_url: { url: image } },
  );
  return { ...rest, content: [{ type: 'text', text: prompt ?? '' }, ...pictures] };
}

function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function readSubmit(answer: JsonAnswer): SubmitReading | undefined {
  const error = readArkError(answer.json);
  if (error !== undefined) return { kind: 'error', error };
  const created = createdSchema.safeParse(answer.json);
  return created.success && answer.status < 300 ? { kind: 'task', taskId: created.data.id } : undefined;
}

function readTask(answer: JsonAnswer, handle: TaskHandle, baseUrl: string, nowMs: number): PollReading | undefined {
  const error = readArkError(answer.json);
  const task = taskSchema.safeParse(answer.json);
  if (answer.status === 404 || (error !== undefined && missingTaskCodes.has(error.code)))
    return { kind: 'not-visible' };
  if (!task.success || answer.status >= 300) return error === undefined ? undefined : { kind: 'error', error };
  if (isAboutAnother(task.data.id, handle)) return undefined;
  const { status, content, usage, updated_at } = task.data;
  const tokens = usage?.completion_tokens;
  const billed = typeof tokens === 'number' ? { usage: { calls: 1, videoTokens: tokens } } : {};
  switch (readStatusWord(status)) {
    case 'running':
      return { kind: 'running', statusWord: status };
    case 'succeeded': {
      const verdict = mediaVerdict(
        [content?.video_url],
        { ...handle, media: 'video' },
        {
          baseUrl,
          cost: {},
          nowMs,
          ...(typeof updated_at === 'number'
            ? { expiresAt: (updated_at + 86_400) * 1_000, completedAt: updated_at * 1_000 }
            : {}),
        },
      );
      return verdict.kind === 'succeeded'
        ? { ...verdict, cost: { usage: { ...verdict.cost.usage, ...billed.usage } } }
        : verdict;
    }
    case 'failed':
      // Only success is billed, moderation failures included.
      return {
        kind: 'failed',
        error: taskError(answer.json),
        cost: { usage: { calls: 0, seconds: 0, videoTokens: 0 } },
      };
    case 'expired':
      return { kind: 'expired', error: { ...taskError(answer.json), kind: 'expired' } };
    case 'canceled':
      return { kind: 'canceled', cost: {} };
    case undefined:
      return { kind: 'unrecognised', statusWord: status };
  }
}

/** Certain either way only if the list shows identifiers and is not longer than a page. */
function readFound(answer: HttpAnswer, request: PreparedRequest, line: VendorLine): FindOutcome {
  const list = answer.kind === 'json' && answer.status < 300 ? listSchema.safeParse(answer.json).data : undefined;
  if (list === undefined) {
    const error = answer.kind === 'json' ? readArkError(answer.json) : undefined;
    const context = line.context();
    return {
      kind: 'check-failed',
      failure: error === undefined ? checkFailure(answer, context) : failureOfAnswer(answer, context, error),
    };
  }
  const items = list.items.map((item) => taskSchema.safeParse(item).data).filter((item) => item !== undefined);
  const wanted = safetyIdentifier(request.key);
  const found = items.find((item) => item.safety_identifier === wanted);
  if (found !== undefined) {
    return { kind: 'found', handle: handleOf(found.id, request, { account: line.context().provider, version }) };
  }
  const isShown = items.length === 0 || items.some((item) => typeof item.safety_identifier === 'string');
  if (isShown && items.length === list.items.length && (list.total ?? items.length) <= items.length)
    return { kind: 'not-found' };
  const why = isShown ? 'more tasks than one page shows' : 'the list shows no safety_identifier';
  return {
    kind: 'check-failed',
    failure: { kind: 'unavailable', code: 'find.uncertain', message: why, provider: line.context().provider },
  };
}
