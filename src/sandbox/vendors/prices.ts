import { microsPerUnit } from '../../kernel/index.ts';

/** What a purchase is priced by. */
interface Purchase {
  readonly count: number;
  readonly seconds: number | undefined;
  readonly resolution?: string;
  readonly audio?: boolean;
  readonly mode?: string;
}

/**
 * What tasks cost here, in the vendors' own units, as price pages and clients had it (July–September 2026). The first rule
 * that fits counts; `resolution` and `mode` narrow it.
 */
interface PriceRule {
  readonly model: RegExp;
  readonly credits: number;
  readonly per: 'picture' | 'second' | 'task';
  readonly resolution?: string;
  readonly audio?: boolean;
  readonly mode?: string;
}

const kieRules: readonly PriceRule[] = [
  { model: /^nano-banana-pro$/, credits: 24, per: 'picture', resolution: '4k' },
  { model: /^nano-banana-pro$/, credits: 18, per: 'picture' },
  { model: /^nano-banana-2-lite$/, credits: 3, per: 'picture' },
  { model: /^nano-banana-2$/, credits: 18, per: 'picture', resolution: '4k' },
  { model: /^nano-banana-2$/, credits: 12, per: 'picture', resolution: '2k' },
  { model: /^nano-banana-2$/, credits: 8, per: 'picture' },
  { model: /^google\/nano-banana/, credits: 4, per: 'picture' },
  { model: /^seedream\//, credits: 6.5, per: 'picture' },
  { model: /seedream|gpt-image|flux-2|qwen/, credits: 5, per: 'picture' },
  { model: /^veo3$/, credits: 250, per: 'task' },
  { model: /^veo3_fast$/, credits: 60, per: 'task' },
  { model: /^veo3_lite$/, credits: 30, per: 'task' },
  { model: /seedance-2$/, credits: 19, per: 'second', resolution: '480p' },
  { model: /seedance-2$/, credits: 102, per: 'second', resolution: '1080p' },
  { model: /seedance-2$/, credits: 41, per: 'second' },
  { model: /seedance-2-fast$/, credits: 15.5, per: 'second', resolution: '480p' },
  { model: /seedance-2-fast$/, credits: 33, per: 'second' },
  { model: /^kling-3\.0/, credits: 30, per: 'second', mode: 'std', audio: true },
  { model: /^kling-3\.0/, credits: 20, per: 'second', mode: 'std' },
  { model: /^kling-3\.0/, credits: 40, per: 'second', audio: true },
  { model: /^kling-3\.0/, credits: 27, per: 'second' },
];
const usualRule = { credits: 10, per: 'second' } as const;

export function kieCostMicros(model: string, purchase: Purchase): number {
  const fits = (rule: PriceRule): boolean =>
    rule.model.test(model) &&
    (rule.resolution === undefined || rule.resolution === purchase.resolution?.toLowerCase()) &&
    (rule.audio === undefined || rule.audio === purchase.audio) &&
    (rule.mode === undefined || rule.mode === purchase.mode);
  const { credits, per } = kieRules.find(fits) ?? usualRule;
  const times = per === 'picture' ? purchase.count : per === 'second' ? (purchase.seconds ?? 5) : 1;
  return Math.round(credits * times * microsPerUnit);
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
