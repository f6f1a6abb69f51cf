import { describe, expect, it } from 'vitest';
import { createWakePace, resultPatienceMs } from '../../src/bitable/pace.ts';
import { createVirtualClock } from '../../src/kernel/index.ts';

const minuteMs = 60_000;

describe('how long a result waits for company', () => {
  it('is not at all for a row alone', () => {
    expect(resultPatienceMs(0, 10 * minuteMs)).toBe(0);
  });

  it('grows with the number of others about, up to a quarter of a minute', () => {
    expect([1, 3, 8, 25, 500].map((others) => resultPatienceMs(others, 10 * minuteMs))).toEqual([
      2_000, 5_000, 10_000, 15_000, 15_000,
    ]);
  });

  it('is never more than a tenth of what the result took to make', () => {
    expect(resultPatienceMs(500, 3_000)).toBe(300);
    expect(resultPatienceMs(500, 0)).toBe(0);
  });
});

describe('the pace of turns after events', () => {
  it('takes words up at once while few rows run, however fast they come', () => {
    const paceMs = createWakePace(createVirtualClock(), () => 7);
    expect(Array.from({ length: 20 }, () => paceMs())).toEqual(Array.from({ length: 20 }, () => 0));
  });

  it('gathers words in a batch once they keep coming, and is prompt again after a pause', async () => {
    const clock = createVirtualClock();
    const paceMs = createWakePace(clock, () => 8);
    expect([paceMs(), paceMs(), paceMs(), paceMs(), paceMs()]).toEqual([0, 0, 0, 4_000, 4_000]);
    await clock.advance(20_000);
    expect(paceMs()).toBe(0);
  });
});
