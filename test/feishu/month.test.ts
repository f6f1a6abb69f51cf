import { describe, expect, it } from 'vitest';
import { createMonthReader } from '../../src/feishu/month.ts';

const dayMs = 86_400_000;

describe('where an instant lies in its month', () => {
  it("is told to the millisecond on both sides of a month's end", () => {
    const read = createMonthReader('Asia/Shanghai');
    const end = Date.parse('2026-12-01T00:00:00+08:00');
    expect(read(end - 1)).toEqual({ month: '2026-11', day: 30, elapsedMs: 30 * dayMs - 1, leftMs: 1 });
    expect(read(end)).toEqual({ month: '2026-12', day: 1, elapsedMs: 0, leftMs: 31 * dayMs });
    expect(read(end - 60_001)).toMatchObject({ month: '2026-11', leftMs: 60_001 });
  });

  it.each(['Asia/Shanghai', 'Asia/Kathmandu', 'America/New_York', 'UTC'])(
    'is the same in %s whatever was read before',
    (zone) => {
      const read = createMonthReader(zone);
      const from = Date.parse('2026-10-31T20:00:00Z');
      for (let nowMs = from; nowMs < from + 2 * dayMs; nowMs += 7 * 60_000 + 1)
        expect(read(nowMs)).toEqual(createMonthReader(zone)(nowMs));
    },
  );
});
