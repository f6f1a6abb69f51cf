import type { ReportedCost } from '../../contract/index.ts';
import { readMediaUrls } from './media-urls.ts';
import type { TaskHandle } from './handle.ts';
import type { PollReading } from './task-adapter.ts';

/**
 * The verdict on a task that its vendor calls done: its addresses, with what a price table needs; or, without a usable
 * address, a failure of its own kind (the vendor may have charged).
 */
export function mediaVerdict(
  candidates: readonly unknown[],
  handle: TaskHandle,
  options: { readonly baseUrl: string; readonly expiresAt?: number; readonly cost: ReportedCost },
): PollReading {
  const isVideo = handle.media === undefined ? candidates.some(looksLikeVideo) : handle.media === 'video';
  const found = readMediaUrls(candidates, isVideo ? 'video' : 'image', options.baseUrl, options.expiresAt);
  if (found.length === 0) {
    const error = { code: 'no-output', message: 'success without a usable address', kind: 'no-output' } as const;
    return { kind: 'failed', error, cost: options.cost };
  }
  const usage = isVideo
    ? { calls: 1, ...(handle.seconds === undefined ? {} : { seconds: handle.seconds }) }
    : { calls: 1, images: found.length };
  return {
    kind: 'succeeded',
    output: isVideo ? { videos: [...found] } : { images: [...found] },
    cost: { usage, ...options.cost },
  };
}

/** Only for a handle that a person gave as a bare task id. */
function looksLikeVideo(candidate: unknown): boolean {
  return typeof candidate === 'string' && /\.(mp4|mov|webm)(\?|$)/i.test(candidate);
}
