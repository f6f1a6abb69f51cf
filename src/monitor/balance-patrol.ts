import type { Balance, Failure, Provider, Settings } from '../contract/index.ts';
import type { ChargeRecord, Store } from '../engine/ports/index.ts';
import { type Clock, deadline, fail, type Logger, type Money, type Result } from '../kernel/index.ts';
import type { Alerter } from './alert.ts';
import { createStoredState } from './alert-state.ts';
import { type AccountState, addCurvePoint, type BalanceState, balanceStateSchema } from './balance-state.ts';
import { tellBalance, tellFailedLook } from './balance-words.ts';
import { judgeDrift } from './ledger-drift.ts';
import { isBelow, parseThreshold } from './exchange.ts';

export interface BalancePatrolDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerter: Pick<Alerter, 'alert' | 'recover'>;
  /** Account id → provider. Read at each round, so that a reloaded configuration counts. */
  readonly providers: () => ReadonlyMap<string, Provider>;
  readonly settings: Pick<Settings, 'balance' | 'money'>;
  /** Account id → vendor folder, for `balance.threshold.<vendor>`; absent: the id itself. */
  readonly vendorOf?: (account: string) => string;
  /** Nobody else spends from this account: drift is then an alert. */
  readonly isExclusive: (account: string) => boolean;
}

export interface BalanceView {
  readonly provider: string;
  readonly currency: string;
  readonly remainingMicros: number;
  readonly at: number;
  readonly usable: boolean;
  readonly isLow: boolean;
  readonly fault: string;
  readonly threshold: Money | null;
  readonly callsLeft: number | null;
  readonly driftMicros: number;
  readonly curve: readonly (readonly [number, number])[];
}

export interface BalancePatrol {
  /** One round over all accounts. Never rejects; each question has its own limit. */
  look(): Promise<readonly BalanceView[]>;
  /** The last round's answers, from memory. */
  view(): readonly BalanceView[];
  start(): void;
  stop(): void;
}

const lookLimitMs = 30_000;
const recentMs = 7 * 86_400_000;

/**
 * The balance patrol: beside the main loop, never in its way. It looks at the field that runs out (adapters see to that),
 * holds it against the vendor's threshold before the global one, and the drop against the ledger.
 */
export function createBalancePatrol(deps: BalancePatrolDeps): BalancePatrol {
  const stored = createStoredState<BalanceState>(deps, 'balances', balanceStateSchema, () => ({ accounts: {} }));
  let state: BalanceState | undefined;
  let running: Promise<readonly BalanceView[]> | undefined;
  let cancel: (() => void) | undefined;

  const view = (): readonly BalanceView[] =>
    Object.entries(state?.accounts ?? {}).map(([provider, account]) => viewOf(provider, account));
  const round = async (): Promise<readonly BalanceView[]> => {
    state ??= await stored.load();
    const { accounts } = state;
    const asked = [...deps.providers()].filter(([, provider]) => provider.balance !== undefined);
    const answers = await Promise.all(
      asked.map(async ([id, provider]) => [id, await askBalance(deps, provider)] as const),
    );
    const nowMs = deps.clock.nowMs();
    const charges = answers.length === 0 ? [] : await deps.store.charges({ fromMs: nowMs - recentMs });
    for (const [id, answer] of answers) {
      const before = accounts[id];
      if (!answer.ok) {
        if (before !== undefined) accounts[id] = { ...before, ...failedLook(before, answer.failure) };
        await tellFailedLook(deps, id, accounts[id], answer.failure);
        continue;
      }
      const own = charges.filter((charge) => charge.provider === id);
      const account = judge(deps, id, answer.value, before, own, nowMs);
      accounts[id] = account;
      await tellBalance(deps, id, account);
    }
    await stored.save(state);
    return view();
  };
  const look = (): Promise<readonly BalanceView[]> =>
    (running ??= round()
      .catch((error: unknown) => {
        deps.logger.error('balance patrol failed', { error: String(error) });
        return view();
      })
      .finally(() => {
        running = undefined;
      }));
  const arm = (delayMs: number): void => {
    cancel = deps.clock.after(delayMs, () => {
      void look().finally(() => {
        if (cancel !== undefined) arm(deps.settings.balance.interval);
      });
    });
  };
  return {
    look,
    view,
    start: () => {
      arm(0);
    },
    stop: () => {
      cancel?.();
      cancel = undefined;
    },
  };
}

async function askBalance(deps: BalancePatrolDeps, provider: Provider): Promise<Result<Balance, Failure>> {
  const limit = deadline(deps.clock, lookLimitMs);
  try {
    const asked = provider.balance?.(limit.signal);
    if (asked === undefined) return fail({ kind: 'internal', code: 'no-balance', message: 'cannot be asked' });
    const expired = new Promise<Result<Balance, Failure>>((resolve) => {
      limit.signal.addEventListener(
        'abort',
        () => resolve(fail({ kind: 'timeout', code: 'balance-timeout', message: `no answer in ${lookLimitMs} ms` })),
        { once: true },
      );
    });
    return await Promise.race([asked, expired]);
  } catch (error) {
    return fail({ kind: 'internal', code: 'balance-threw', message: String(error) });
  } finally {
    limit.release();
  }
}

function judge(
  deps: BalancePatrolDeps,
  id: string,
  balance: Balance,
  before: AccountState | undefined,
  charges: readonly ChargeRecord[],
  nowMs: number,
): AccountState {
  const { remaining } = balance;
  const threshold = thresholdOf(deps, id, remaining.currency);
  const below = threshold === undefined ? false : isBelowThreshold(deps, id, remaining, threshold);
  const same = before?.remaining.currency === remaining.currency ? before : undefined;
  return {
    remaining,
    usable: balance.usable ?? true,
    at: nowMs,
    fault: '',
    failedLooks: 0,
    isLow: below || balance.usable === false,
    threshold: threshold ?? null,
    callsLeft: callsLeft(remaining, charges),
    curve: addCurvePoint(same?.curve ?? [], nowMs, remaining.micros),
    ...judgeDrift(same, remaining, charges, nowMs),
  };
}

/** The vendor's own threshold goes before the global one. */
function thresholdOf(deps: BalancePatrolDeps, id: string, currency: string): Money | undefined {
  const { threshold } = deps.settings.balance;
  const written = threshold[id] ?? threshold[deps.vendorOf?.(id) ?? id] ?? threshold['default'];
  if (written === undefined) return undefined;
  const parsed = parseThreshold(written, currency);
  if (parsed.ok) return parsed.value;
  deps.logger.error('balance threshold unreadable', { provider: id, fault: parsed.failure });
  return undefined;
}

function isBelowThreshold(deps: BalancePatrolDeps, id: string, remaining: Money, threshold: Money): boolean {
  const below = isBelow(remaining, threshold, deps.settings.money);
  if (below.ok) return below.value;
  deps.logger.error('balance cannot be compared', { provider: id, fault: below.failure });
  return false;
}

/** For how many more calls it will do, by the mean of the last seven days' settled calls in the same unit. */
function callsLeft(remaining: Money, charges: readonly ChargeRecord[]): number | null {
  const priced = charges.filter(
    (charge) => charge.state === 'settled' && charge.amount.currency === remaining.currency && charge.amount.micros > 0,
  );
  if (priced.length === 0) return null;
  const meanMicros = priced.reduce((sum, charge) => sum + charge.amount.micros, 0) / priced.length;
  return Math.max(0, Math.floor(remaining.micros / meanMicros));
}

function failedLook(before: AccountState, failure: Failure): Pick<AccountState, 'fault' | 'failedLooks'> {
  return { fault: failure.kind, failedLooks: before.failedLooks + 1 };
}

function viewOf(provider: string, account: AccountState): BalanceView {
  return {
    provider,
    currency: account.remaining.currency,
    remainingMicros: account.remaining.micros,
    at: account.at,
    usable: account.usable,
    isLow: account.isLow,
    fault: account.fault,
    threshold: account.threshold,
    callsLeft: account.callsLeft,
    driftMicros: account.driftMicros,
    curve: account.curve,
  };
}
