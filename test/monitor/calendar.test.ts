import { describe, expect, it } from 'vitest';
import { createCalendar } from '../../src/monitor/index.ts';

describe('calendar', () => {
  it('knows the days of Shanghai, whatever the zone of the host', () => {
    const calendar = createCalendar('Asia/Shanghai');
    const at = Date.UTC(2026, 10, 30, 16, 0, 0);
    expect(calendar.dayOf(at)).toBe('2026-12-01');
    expect(calendar.dayOf(at - 1)).toBe('2026-11-30');
    expect(calendar.startOfDay('2026-12-01')).toBe(at);
    expect(calendar.timeOf(at)).toBe('00:00');
    expect(calendar.addDays('2026-11-30', 1)).toBe('2026-12-01');
    expect(calendar.addDays('2026-03-01', -1)).toBe('2026-02-28');
  });

  it.each(['America/New_York', 'Europe/London', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/Santiago', 'UTC'])(
    'covers a year of %s with days that meet without gap or overlap, clock changes included',
    (zone) => {
      const calendar = createCalendar(zone);
      let day = '2026-01-01';
      for (let index = 0; index < 365; index += 1) {
        const start = calendar.startOfDay(day);
        expect(calendar.dayOf(start)).toBe(day);
        expect(calendar.dayOf(start - 1)).toBe(calendar.addDays(day, -1));
        day = calendar.addDays(day, 1);
      }
    },
  );
});
