import { describe, expect, it } from 'vitest';
import { countCalls } from './support/count-calls.ts';

describe('platform calls of a row', () => {
  it('a batch of fifty needs at most eight calls a row for all three stages, beside its media', async () => {
    const counts = await countCalls(50, 180_000);
    expect(counts.perRow).toBeLessThanOrEqual(6);
  });

  it('a row alone needs few more than the least', async () => {
    const counts = await countCalls(1, 60_000);
    expect(counts.perRow).toBeLessThanOrEqual(20);
  });
});
