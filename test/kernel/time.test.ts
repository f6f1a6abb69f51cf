import { describe, expect, it } from 'vitest';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  deadline,
  formatDuration,
  parseDuration,
  sleep,
} from '../../src/kernel/index.ts';

describe('duration', () => {
  it('reads and writes the units of the contract', () => {
    for (const [text, ms] of [
      ['200ms', 200],
      ['3s', 3_000],
      ['10m', 600_000],
      ['24h', 86_400_000],
      ['1.5s', 1_500],
    ] as const) {
      expect(parseDuration(text)).toEqual({ ok: true, value: ms });
    }
    expect(formatDuration(90_000)).toBe('90s');
    expect(formatDuration(0)).toBe('0ms');
  });

  it('refuses a bare number, a sign and an unknown unit, and says how to write it', () => {
    for (const bad of ['30', '-1s', '0x1s', '5 minutes', '', '1e3s']) {
      const parsed = parseDuration(bad);
      expect(parsed.ok).toBe(false);
      if (!parsed.ok) expect(parsed.failure).toContain('write it like');
    }
  });
});

describe('clock', () => {
  it('runs timers in order of time, then of their making', async () => {
    const clock = createVirtualClock();
    const seen: string[] = [];
    clock.after(20, () => seen.push('late'));
    clock.after(10, () => seen.push('first'));
    clock.after(10, () => seen.push('second'));
    const cancel = clock.after(15, () => seen.push('cancelled'));
    cancel();
    await clock.advance(30);
    expect(seen).toEqual(['first', 'second', 'late']);
  });

  it('ends a wait at once when its signal is aborted, with the reason', async () => {
    const clock = createVirtualClock();
    const controller = new AbortController();
    const waiting = sleep(clock, 60_000, controller.signal);
    controller.abort(new Error('stopping'));
    await expect(waiting).rejects.toThrow('stopping');
    await expect(sleep(clock, 1, controller.signal)).rejects.toThrow('stopping');
    expect(clock.nextDueInMs()).toBeUndefined();
  });

  it('tells a passed limit from an abort of the caller', async () => {
    const clock = createVirtualClock();
    const parent = new AbortController();
    const limited = deadline(clock, 100, parent.signal);
    const stopped = deadline(clock, 1_000, parent.signal);
    await clock.advance(100);
    expect([limited.signal.aborted, limited.expired()]).toEqual([true, true]);
    parent.abort(new Error('stop'));
    expect([stopped.signal.aborted, stopped.expired()]).toEqual([true, false]);
  });

  it('lets wall time jump without moving the monotonic clock', () => {
    const clock = createVirtualClock(1_000);
    clock.jumpWall(-500);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([500, 0]);
  });
});

describe('ids', () => {
  it('are UUIDv7 and strictly grow, also within one millisecond and when the clock steps back', () => {
    const clock = createVirtualClock();
    const ids = createIdSource(clock, createSeededRandom(1));
    const made = Array.from({ length: 5_000 }, () => ids.uuid());
    clock.jumpWall(-60_000);
    made.push(ids.uuid());
    expect(new Set(made).size).toBe(made.length);
    expect([...made].sort()).toEqual(made);
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
