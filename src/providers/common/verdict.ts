import type { ReportedCost } from '../../contract/index.ts';
import { readMediaUrls } from './media-urls.ts';
import type { TaskHandle } from './handle.ts';
import type { PollReading } from './task-adapter.ts';

/** Addresses may come a little later than the word "done": so long they are waited for. */
const addressGraceMs = 120_000;

/**
 * The verdict on a task that its vendor calls done: its addresses, with what a price table needs. Without a usable address
 * it is looked at again for two minutes from its end, where the vendor tells that; then it is a failure of its own kind
 * (the vendor may have charged), never a success and never a reason to wait for ever.
 */
export function mediaVerdict(
  candidates: readonly unknown[],
  handle: TaskHandle,
  options: {
    readonly baseUrl: string;
    readonly expiresAt?: number;
    readonly cost: ReportedCost;
    readonly nowMs: number;
    /** When the vendor says that it was done. */
    readonly completedAt?: number | undefined;
  },
): PollReading {
  const isVideo = handle.media === undefined ? candidates.some(looksLikeVideo) : handle.media === 'video';
  const found = readMediaUrls(candidates, isVideo ? 'video' : 'image', options.baseUrl, options.expiresAt);
  if (found.length === 0) {
    const ageMs = options.completedAt === undefined ? Infinity : options.nowMs - options.completedAt;
    if (Math.abs(ageMs) < addressGraceMs) return { kind: 'running', statusWord: 'done, without an address yet' };
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
