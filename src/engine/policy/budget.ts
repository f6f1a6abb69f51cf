import type { Settings } from '../../contract/index.ts';
import type { Labels, Store } from '../ports/index.ts';
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
  /** Whether a purchase of `estimate` may be made now. */
  check(labels: Labels, sourceRef: string, estimateCnyMicros: number): Promise<BudgetVerdict>;
  /** A reservation or a settlement changed the ledger by so much. */
  note(labels: Labels, sourceRef: string, deltaCnyMicros: number): void;
}

const freshForMs = 30_000;
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
  const tallyOf = async (limit: Limit): Promise<Tally> => {
    const key = `${limit.of} ${limit.name}`;
    const nowMs = clock.nowMs();
    const dayStart = limit.of === 'row' ? 0 : dayStartOf(nowMs);
    const known = tallies.get(key);
    if (
      known !== undefined &&
      known.dayStart === dayStart &&
      nowMs - known.readAtMs < freshForMs &&
      nowMs >= known.readAtMs
    )
      return known;
    const filter = {
      agent: { agent: limit.name, fromMs: dayStart },
      submitter: { submitter: limit.name, fromMs: dayStart },
      row: { sourceRefPrefix: limit.name },
    }[limit.of];
    const charges = await store.charges({ ...filter, states: ['reserved', 'settled'] });
    const tally = { spent: charges.reduce((sum, charge) => sum + charge.cnyMicros, 0), readAtMs: nowMs, dayStart };
    tallies.set(key, tally);
    return tally;
  };
  return {
    check: async (labels, sourceRef, estimate) => {
      let warning: BudgetVerdict = { kind: 'free' };
      for (const limit of limitsFor(labels, sourceRef)) {
        const { spent } = await tallyOf(limit);
        const told = { of: limit.of, name: limit.name, limitCnyMicros: limit.limit, spentCnyMicros: spent } as const;
        if (spent + estimate > limit.limit) return { kind: 'reached', ...told };
        // Told as it will be with this purchase: the sum before it need not be near the limit.
        if (spent + estimate >= limit.limit * warnRatio) {
          warning = { kind: 'warning', ...told, spentCnyMicros: spent + estimate };
        }
      }
      return warning;
    },
    note: (labels, sourceRef, delta) => {
      for (const limit of limitsFor(labels, sourceRef)) {
        const tally = tallies.get(`${limit.of} ${limit.name}`);
        if (tally !== undefined) tally.spent += delta;
      }
    },
  };
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
