import type { ProviderDeps } from '../../contract/index.ts';
import {
  isAboutAnother,
  mediaVerdict,
  type PollReading,
  readStatusWord,
  type SubmitReading,
  type TaskDialect,
  type TaskHandle,
  type Upload,
} from '../common/index.ts';
import type { HttpAnswer } from '../http/index.ts';
import { credits, decodeResult, envelopeError, readCreateError, readEnvelope, taskError } from './codes.ts';
import { kiePictureLimits } from './upload.ts';
import { createdSchema, recordSchema, resultSchema } from './wire.ts';

type JsonAnswer = Extract<HttpAnswer, { readonly kind: 'json' }>;

/** The market API: one address for all models, `input` per model, JSON in a string as result. */
export function createMarketDialect(baseUrl: string, upload: Upload, deps: ProviderDeps): TaskDialect {
  return {
    implementation: 'kie.market',
    version: 1,
    capabilities: ['image.generate', 'video.generate'],
    upload,
    pictureLimits: kiePictureLimits,
    buildPayload: (body, call) => ({ model: call.model.model, input: body }),
    submitRequest: () => ({ url: `${baseUrl}/api/v1/jobs/createTask` }),
    readSubmit: readCreate,
    queryUrl: ({ taskId }) => `${baseUrl}/api/v1/jobs/recordInfo?taskId=${encodeURIComponent(taskId)}`,
    readPoll: (answer, handle) => readRecord(answer, handle, baseUrl, deps.clock.nowMs()),
  };
}

export function readCreate(answer: JsonAnswer): SubmitReading | undefined {
  const envelope = readEnvelope(answer);
  if (envelope === undefined) return undefined;
  if (envelope.code !== 200) return readCreateError(envelope);
  const created = createdSchema.safeParse(envelope.data);
  return created.success ? { kind: 'task', taskId: created.data.taskId } : undefined;
}

/**
 * 422 (null record) and 404 also answer a check that comes right after the create: "not visible", never a verdict at once.
 * 501 is the vendor's word that the generation failed.
 */
export function readCheckCode(
  answer: JsonAnswer,
): PollReading | { readonly kind: 'data'; readonly data: unknown } | undefined {
  const envelope = readEnvelope(answer);
  if (envelope === undefined) return undefined;
  if (envelope.code === 200 && envelope.data !== null && envelope.data !== undefined)
    return { kind: 'data', data: envelope.data };
  if (envelope.code === 200 || envelope.code === 422 || envelope.code === 404) return { kind: 'not-visible' };
  const error = envelopeError(envelope);
  return envelope.code === 501 ? { kind: 'failed', error, cost: credits(0) } : { kind: 'error', error };
}

function readRecord(answer: JsonAnswer, handle: TaskHandle, baseUrl: string, nowMs: number): PollReading | undefined {
  const check = readCheckCode(answer);
  if (check?.kind !== 'data') return check;
  const record = recordSchema.safeParse(check.data);
  if (!record.success || isAboutAnother(record.data.taskId, handle)) return undefined;
  const { state, progress, creditsConsumed, failCode, failMsg, resultJson, completeTime } = record.data;
  switch (readStatusWord(state)) {
    case 'running':
      return { kind: 'running', statusWord: state, ...(typeof progress === 'number' ? { progressPct: progress } : {}) };
    case 'succeeded':
      return mediaVerdict(resultSchema.safeParse(decodeResult(resultJson)).data?.resultUrls ?? [], handle, {
        baseUrl,
        expiresAt: nowMs + linkLifeMs,
        cost: credits(creditsConsumed),
        nowMs,
        completedAt: completeTime ?? undefined,
      });
    case 'failed':
      return { kind: 'failed', error: taskError(failCode, failMsg), cost: credits(creditsConsumed) };
    case 'expired':
      return { kind: 'expired', error: { ...taskError(failCode, failMsg), kind: 'expired' } };
    case 'canceled':
      return { kind: 'canceled', cost: credits(creditsConsumed) };
    case undefined:
      return { kind: 'unrecognised', statusWord: state };
  }
}

/** Links are kept 14 days by one page and 24 h by another: the shorter is believed. */
export const linkLifeMs = 24 * 3_600_000;
