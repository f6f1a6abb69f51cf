import type { ProviderDeps } from '../../contract/index.ts';
import {
  isAboutAnother,
  mediaVerdict,
  type PollReading,
  type TaskDialect,
  type TaskHandle,
  type Upload,
} from '../common/index.ts';
import type { HttpAnswer } from '../http/index.ts';
import { credits, decodeResult, taskError } from './codes.ts';
import { linkLifeMs, readCheckCode, readCreate } from './market.ts';
import { kiePictureLimits } from './upload.ts';
import { veoRecordSchema } from './wire.ts';

/** Veo has addresses and a status dialect of its own (`successFlag`); moderation shows on a later check. */
export function createVeoDialect(baseUrl: string, upload: Upload, deps: ProviderDeps): TaskDialect {
  return {
    implementation: 'kie.veo',
    version: 1,
    capabilities: ['video.generate'],
    upload,
    pictureLimits: kiePictureLimits,
    buildPayload: (body, call) => ({
      generationType: generationType(body['imageUrls']),
      ...body,
      model: call.model.model,
    }),
    submitRequest: () => ({ url: `${baseUrl}/api/v1/veo/generate` }),
    readSubmit: readCreate,
    queryUrl: ({ taskId }) => `${baseUrl}/api/v1/veo/record-info?taskId=${encodeURIComponent(taskId)}`,
    readPoll: (answer, handle) => readVeoRecord(answer, handle, baseUrl, deps.clock.nowMs()),
  };
}

/** One or two pictures are first and last frame; three can only be references. */
function generationType(imageUrls: unknown): string {
  const count = Array.isArray(imageUrls) ? imageUrls.length : 0;
  if (count === 0) return 'TEXT_2_VIDEO';
  return count <= 2 ? 'FIRST_AND_LAST_FRAMES_2_VIDEO' : 'REFERENCE_2_VIDEO';
}

function readVeoRecord(
  answer: Extract<HttpAnswer, { readonly kind: 'json' }>,
  handle: TaskHandle,
  baseUrl: string,
  nowMs: number,
): PollReading | undefined {
  const check = readCheckCode(answer);
  if (check?.kind !== 'data') return check;
  const record = veoRecordSchema.safeParse(check.data);
  if (!record.success || isAboutAnother(record.data.taskId, handle)) return undefined;
  const { successFlag, response, errorCode, errorMessage, creditsConsumed } = record.data;
  switch (successFlag) {
    case 0:
      return { kind: 'running', statusWord: 'successFlag 0' };
    case 1:
      return mediaVerdict(
        addressesOf(response),
        { ...handle, media: 'video' },
        {
          baseUrl,
          expiresAt: nowMs + linkLifeMs,
          cost: credits(creditsConsumed),
          nowMs,
        },
      );
    case 2:
    case 3:
      return { kind: 'failed', error: taskError(errorCode, errorMessage), cost: credits(creditsConsumed) };
    default:
      return { kind: 'unrecognised', statusWord: `successFlag ${successFlag}` };
  }
}

/** `resultUrls` is a list, or a list inside a string; `originUrls` (other ratios) stand in when it is empty. */
function addressesOf(
  response: { readonly resultUrls?: unknown; readonly originUrls?: unknown } | null | undefined,
): readonly unknown[] {
  for (const given of [response?.resultUrls, response?.originUrls]) {
    const list: unknown = decodeResult(given);
    if (Array.isArray(list) && list.length > 0) return list;
  }
  return [];
}
