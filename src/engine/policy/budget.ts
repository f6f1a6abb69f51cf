import type { Settings } from '../../contract/index.ts';
import type { ChargeRecord, Labels, Store } from '../ports/index.ts';
import { cnyMicrosOf } from './pricing.ts';

/** A limit that a purchase would pass, or comes near to. */
export interface BudgetVerdict {
  readonly kind: 'free' | 'warning' | 'reached';
  /** `agent`, `submitter` or `row`, where not free. */
  readonly of?: 'agent' | 'submitter' | 'row';
  readonly name?: string;
  readonly limitCnyMicros?: number;
  readonly spentCnyMicros?: number;
}

/**
 * Budgets stop new paid calls, never a running one. Sums come from the ledger (reserved and settled charges of the day,
 * or of the row), kept in memory between reads for at most half a minute, so that other workers' spending shows.
 */
export interface Budgets {
  /**
   * Whether a purchase of `estimate` may be made now. Where it may, it is counted at once, before anybody else can ask, and
   * is on its way to the ledger until `landed` or `giveBack` is called.
   */
  reserve(labels: Labels, sourceRef: string, estimateCnyMicros: number): Promise<BudgetVerdict>;
  /** The purchase's reservation is in the ledger: a sum that is read has it from there. */
  landed(labels: Labels, sourceRef: string, estimateCnyMicros: number): void;
  /** Nothing was bought. */
  giveBack(labels: Labels, sourceRef: string, estimateCnyMicros: number): void;
  /** A settlement changed a charge of the ledger by so much. */
  note(charge: Pick<ChargeRecord, 'labels' | 'sourceRef' | 'reservedAt'>, deltaCnyMicros: number): void;
  /** When the day of the daily budgets began, epoch ms. */
  dayStart(nowMs: number): number;
}

const freshForMs = 30_000;
/** Each row that ever bought has had its sum; one that is not fresh any more is kept for whoever is just judging by it. */
const keptForMs = 10 * freshForMs;
const warnRatio = 0.8;

interface Tally {
  spent: number;
  readAtMs: number;
  dayStart: number;
}

export function createBudgets(options: {
  readonly limits: Settings['limits'];
  readonly store: Pick<Store, 'charges'>;
  readonly clock: { nowMs(): number };
  readonly timeZone: string;
}): Budgets {
  const { limits, store, clock } = options;
  const tallies = new Map<string, Tally>();
  const readings = new Map<string, Reading>();
  /** What was reserved and may not be in the ledger yet, by limit. */
  const onTheWay = new Map<string, number>();
  const dayStartOf = createDayStart(options.timeZone);
  const limitsFor = (labels: Labels, sourceRef: string): readonly Limit[] => {
    const found: Limit[] = [];
    const { agent, submitter } = labels;
    const daily = agent === undefined ? undefined : limits.daily_cost[agent];
    if (agent !== undefined && daily !== undefined) found.push({ of: 'agent', name: agent, limit: cnyMicrosOf(daily) });
    if (submitter !== undefined && limits.daily_cost_per_submitter !== undefined) {
      found.push({ of: 'submitter', name: submitter, limit: cnyMicrosOf(limits.daily_cost_per_submitter) });
    }
    const row = agent === undefined ? undefined : limits.row_cost[agent];
    if (row !== undefined) found.push({ of: 'row', name: rowOf(sourceRef), limit: cnyMicrosOf(row) });
    return found;
  };
  /**
   * One reading at a time for each limit. What is on its way, landed or noted meanwhile may be missing from it, and is
   * counted on top: for half a minute a sum may be too high, never too low.
   */
  const read = (limit: Limit, key: string, dayStart: number): Reading => {
    const filter = {
      agent: { agent: limit.name, fromMs: dayStart },
      submitter: { submitter: limit.name, fromMs: dayStart },
      row: { sourceRefPrefix: limit.name },
    }[limit.of];
    const load = async (): Promise<void> => {
      const readAtMs = clock.nowMs();
      try {
        const charges = await store.charges({ ...filter, states: ['reserved', 'settled'] });
        const spent = charges.reduce((sum, charge) => sum + charge.cnyMicros, 0);
        // At the end, so that the sums read longest ago stand first.
        tallies.delete(key);
        tallies.set(key, { spent: spent + reading.noted + (onTheWay.get(key) ?? 0), readAtMs, dayStart });
        forgetOld(tallies, readAtMs);
      } finally {
        readings.delete(key);
      }
    };
    const reading: Reading = { noted: 0, dayStart, done: Promise.resolve() };
    readings.set(key, reading);
    reading.done = load();
    return reading;
  };
  const refresh = async (limit: Limit): Promise<void> => {
    const key = keyOf(limit);
    const nowMs = clock.nowMs();
    const dayStart = limit.of === 'row' ? 0 : dayStartOf(nowMs);
    const known = tallies.get(key);
    const ageMs = known?.dayStart === dayStart ? nowMs - known.readAtMs : Number.POSITIVE_INFINITY;
    if (ageMs >= 0 && ageMs < freshForMs) return;
    await (readings.get(key) ?? read(limit, key, dayStart)).done;
  };
  const move = (
    labels: Labels,
    sourceRef: string,
    change: { onTheWay: number; spent: number; landed: number },
  ): void => {
    for (const limit of limitsFor(labels, sourceRef)) {
      const key = keyOf(limit);
      const left = (onTheWay.get(key) ?? 0) + change.onTheWay;
      if (left > 0) onTheWay.set(key, left);
      else onTheWay.delete(key);
      const tally = tallies.get(key);
      if (tally !== undefined) tally.spent += change.spent;
      const reading = readings.get(key);
      if (reading !== undefined) reading.noted += change.landed;
    }
  };
  return {
    reserve: async (labels, sourceRef, estimate) => {
      const asked = limitsFor(labels, sourceRef);
      await Promise.all(asked.map(refresh));
      // From here on nothing waits: of several that ask at once, each sees those before it.
      const verdict = judge(asked, (limit) => tallies.get(keyOf(limit))?.spent ?? 0, estimate);
      if (verdict.kind !== 'reached') move(labels, sourceRef, { onTheWay: estimate, spent: estimate, landed: 0 });
      return verdict;
    },
    landed: (labels, sourceRef, estimate) => {
      move(labels, sourceRef, { onTheWay: -estimate, spent: 0, landed: estimate });
    },
    giveBack: (labels, sourceRef, estimate) => {
      move(labels, sourceRef, { onTheWay: -estimate, spent: -estimate, landed: 0 });
    },
    note: ({ labels, sourceRef, reservedAt }, delta) => {
      for (const limit of limitsFor(labels, sourceRef)) {
        const tally = tallies.get(keyOf(limit));
        // What was bought yesterday is no part of today's sum.
        if (tally !== undefined && reservedAt >= tally.dayStart) tally.spent += delta;
        const reading = readings.get(keyOf(limit));
        if (reading !== undefined && reservedAt >= reading.dayStart) reading.noted += Math.max(0, delta);
      }
    },
    dayStart: dayStartOf,
  };
}

function forgetOld(tallies: Map<string, Tally>, nowMs: number): void {
  for (const [key, { readAtMs }] of tallies) {
    if (nowMs - readAtMs < keptForMs) return;
    tallies.delete(key);
  }
}

function judge(limits: readonly Limit[], spentOf: (limit: Limit) => number, estimate: number): BudgetVerdict {
  let warning: BudgetVerdict = { kind: 'free' };
  for (const limit of limits) {
    const spent = spentOf(limit);
    const told = { of: limit.of, name: limit.name, limitCnyMicros: limit.limit, spentCnyMicros: spent } as const;
    if (spent + estimate > limit.limit) return { kind: 'reached', ...told };
    // Told as it will be with this purchase: the sum before it need not be near the limit.
    if (spent + estimate >= limit.limit * warnRatio) {
      warning = { kind: 'warning', ...told, spentCnyMicros: spent + estimate };
    }
  }
  return warning;
}

/** The ledger being summed up. */
interface Reading {
  noted: number;
  readonly dayStart: number;
  done: Promise<void>;
}

function keyOf(limit: Limit): string {
  return `${limit.of} ${limit.name}`;
}

interface Limit {
  readonly of: 'agent' | 'submitter' | 'row';
  readonly name: string;
  readonly limit: number;
}

/** A row is what its stages share: the source up to the `#`. */
function rowOf(sourceRef: string): string {
  const mark = sourceRef.indexOf('#');
  return mark === -1 ? sourceRef : sourceRef.slice(0, mark + 1);
}

/** The start of the day in a zone, as an instant. */
export function createDayStart(timeZone: string): (nowMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (nowMs) => {
    const part = (type: string): number =>
      Number(format.formatToParts(nowMs).find((each) => each.type === type)?.value ?? 0);
    const sinceMidnightMs = (part('hour') * 3_600 + part('minute') * 60 + part('second')) * 1_000 + (nowMs % 1_000);
    return nowMs - sinceMidnightMs;
  };
}
