import type { ProviderDeps, ReportedCost } from '../../contract/index.ts';
import { createInlineMedia, readMediaUrls, type SubmitReading, type TaskDialect } from '../common/index.ts';
import type { HttpAnswer } from '../http/index.ts';
import { readArkError, taskError } from './codes.ts';
import { arkPictureLimits } from './limits.ts';
import { imagesSchema } from './wire.ts';

/** Addresses of pictures last 24 hours. */
const linkLifeMs = 24 * 3_600_000;

/** Seedream answers in the submit itself; a lost answer cannot be looked up. */
export function createArkImageDialect(baseUrl: string, deps: ProviderDeps): TaskDialect {
  const inline = createInlineMedia(deps.media, arkPictureLimits);
  return {
    implementation: 'ark.image',
    version: 1,
    capabilities: ['image.generate'],
    upload: inline.upload,
    pictureLimits: arkPictureLimits,
    buildPayload: (body, call) => ({ ...body, model: call.model.model }),
    finishPayload: inline.finish,
    submitRequest: () => ({ url: `${baseUrl}/images/generations` }),
    readSubmit: (answer) => readImages(answer, baseUrl, deps.clock.nowMs()),
    queryUrl: ({ taskId }) => `${baseUrl}/images/generations/${encodeURIComponent(taskId)}`,
    readPoll: () => undefined,
  };
}

/** Some pictures of a group may have failed: the good ones count; none at all is a failure with the vendor's reason. */
function readImages(
  answer: Extract<HttpAnswer, { readonly kind: 'json' }>,
  baseUrl: string,
  nowMs: number,
): SubmitReading | undefined {
  const whole = readArkError(answer.json);
  if (whole !== undefined) return { kind: 'error', error: whole };
  const images = answer.status < 300 ? imagesSchema.safeParse(answer.json).data : undefined;
  if (images === undefined) return undefined;
  const found = readMediaUrls(
    images.data.map((item) => item.url),
    'image',
    baseUrl,
    nowMs + linkLifeMs,
  );
  const made = images.usage?.generated_images ?? found.length;
  const cost: ReportedCost = { usage: { calls: 1, images: made } };
  if (found.length > 0) return { kind: 'done', output: { images: [...found] }, cost };
  const reason = images.data.find((item) => item.error !== undefined);
  const error =
    reason === undefined
      ? ({ code: 'no-output', message: 'success without a usable address', kind: 'no-output' } as const)
      : taskError(reason);
  return { kind: 'error', error, outcome: 'failed', cost };
}
