import { type Random, randomInt } from '../kernel/index.ts';

/** A span of milliseconds, or exactly one value. */
export type LatencySpan = number | { readonly fromMs: number; readonly toMs: number };

/** How long the outside world takes. Task times are from acceptance to verdict. */
export interface Latencies {
  readonly feishuReadMs: LatencySpan;
  readonly feishuWriteMs: LatencySpan;
  readonly feishuMediaMs: LatencySpan;
  readonly vendorMs: LatencySpan;
  readonly chatMs: LatencySpan;
  readonly imageTaskMs: LatencySpan;
  readonly videoTaskMs: LatencySpan;
}

/** For people who watch: quick, but one sees that something happens. */
export const demoLatencies: Latencies = {
  feishuReadMs: { fromMs: 4, toMs: 15 },
  feishuWriteMs: { fromMs: 8, toMs: 30 },
  feishuMediaMs: { fromMs: 8, toMs: 30 },
  vendorMs: { fromMs: 5, toMs: 30 },
  chatMs: { fromMs: 200, toMs: 500 },
  imageTaskMs: { fromMs: 1_000, toMs: 2_000 },
  videoTaskMs: { fromMs: 2_500, toMs: 3_500 },
};

/** As the real services were seen to behave (a virtual clock makes it free). */
export const realisticLatencies: Latencies = {
  feishuReadMs: { fromMs: 80, toMs: 400 },
  feishuWriteMs: { fromMs: 150, toMs: 900 },
  feishuMediaMs: { fromMs: 200, toMs: 1_500 },
  vendorMs: { fromMs: 100, toMs: 1_200 },
  chatMs: { fromMs: 3_000, toMs: 40_000 },
  imageTaskMs: { fromMs: 20_000, toMs: 240_000 },
  videoTaskMs: { fromMs: 120_000, toMs: 600_000 },
};

/** No waiting at all. */
export const noLatencies: Latencies = {
  feishuReadMs: 0,
  feishuWriteMs: 0,
  feishuMediaMs: 0,
  vendorMs: 0,
  chatMs: 0,
  imageTaskMs: 0,
  videoTaskMs: 0,
};

export function drawLatencyMs(span: LatencySpan, random: Random): number {
  if (typeof span === 'number') return span;
  return span.fromMs + randomInt(random, Math.max(1, span.toMs - span.fromMs));
}
