import { microsPerUnit } from '../../kernel/index.ts';

/** What tasks cost here, in the vendors' own units, as their price pages and clients had it (July–September 2026). */
const kieCredits: readonly (readonly [RegExp, number])[] = [
  [/^nano-banana-pro$/, 18],
  [/^nano-banana-2-lite$/, 3],
  [/^nano-banana-2$/, 8],
  [/^google\/nano-banana/, 4],
  [/^bytedance\/seedream-v4/, 5],
  [/^seedream\//, 6.5],
  [/^gpt-image/, 6],
  [/^flux-2\//, 5],
  [/^qwen/, 4],
  [/^veo3$/, 250],
  [/^veo3_fast$/, 60],
  [/^veo3_lite$/, 30],
];

/** Credits a second of film. */
const kieCreditsPerSecond: readonly (readonly [RegExp, number])[] = [
  [/^kling-3\.0/, 20],
  [/^kling/, 11],
  [/^bytedance\/seedance-2/, 16],
  [/^bytedance\//, 7],
  [/^wan\//, 12],
  [/^hailuo/, 8],
  [/^minimax/, 9],
  [/^grok-imagine/, 4],
];

export function kieCostMicros(model: string, options: { count: number; seconds: number | undefined }): number {
  const flat = kieCredits.find(([pattern]) => pattern.test(model));
  const timed = kieCreditsPerSecond.find(([pattern]) => pattern.test(model));
  const credits = flat !== undefined ? flat[1] * options.count : (timed?.[1] ?? 10) * (options.seconds ?? 5);
  return Math.round(credits * microsPerUnit);
}

/** toapis: dollars, told as `cost_usd` and as credits (200 to the dollar). */
const toapisUsdMicros: Readonly<Record<string, number>> = { '1k': 15_000, '2k': 20_000, '4k': 25_000 };

export function toapisImageUsdMicros(resolution: string, count: number): number {
  return (toapisUsdMicros[resolution.toLowerCase()] ?? 15_000) * count;
}

const toapisVideoUsdMicrosPerSecond = 20_000;

export function toapisVideoUsdMicros(seconds: number): number {
  return toapisVideoUsdMicrosPerSecond * seconds;
}

export const toapisCreditsPerUsd = 200;
