import type { FeishuFailure } from '../feishu/index.ts';
import { type Clock, fullJitterMs, type Logger, type Random } from '../kernel/index.ts';

/**
 * How the writing of a base goes: for the base as a whole, and for each table where the fault lies in the table (deleted,
 * closed to the app). A failure makes its place wait, ever longer; what the platform answers ends the trouble of both.
 */
export interface WriterHealth {
  /** Nothing is sent to the table before then (monotonic). */
  notBeforeMs(tableId: string): number;
  /** Writes to the table have been failing. */
  isDown(tableId: string): boolean;
  answered(tableId: string): void;
  failed(tableId: string, failure: FeishuFailure): void;
}

export interface HealthDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `tableId`: the one table that is down; absent when the base is. */
  readonly onDown: (failure: FeishuFailure, tableId: string | undefined) => void;
  readonly onRecovered: (tableId: string | undefined) => void;
}

interface Trouble {
  readonly tableId: string | undefined;
  failures: number;
  isDown: boolean;
  notBeforeMs: number;
}

const firstBackoffMs = 1_000;
const maxBackoffMs = 60_000;
/** Failures in a row after which write-back counts as down. */
const failuresUntilDown = 5;
/** Classes that waiting does not mend soon: told at once, tried again slowly. */
const slowClasses: readonly FeishuFailure['class'][] = ['permission', 'quota', 'credential', 'config'];
/** Refusals of these classes are about the table, unless the code names the base or comes from the gateway. */
const tableClasses: readonly FeishuFailure['class'][] = ['permission', 'config'];
/** Base not found (two forms), app not a collaborator of the base, base token malformed. */
const baseCodes: ReadonlySet<number> = new Set([91402, 1254040, 91403, 1254003]);
const firstGatewayCode = 99_990_000;

export function createWriterHealth(deps: HealthDeps): WriterHealth {
  const base = newTrouble(undefined);
  const tables = new Map<string, Trouble>();
  const recover = (trouble: Trouble | undefined): void => {
    if (trouble === undefined) return;
    if (trouble.isDown) deps.onRecovered(trouble.tableId);
    trouble.failures = 0;
    trouble.isDown = false;
  };
  const placeOf = (tableId: string, failure: FeishuFailure): Trouble => {
    if (!isAboutTable(failure)) return base;
    const known = tables.get(tableId) ?? newTrouble(tableId);
    tables.set(tableId, known);
    return known;
  };
  return {
    notBeforeMs: (tableId) => Math.max(base.notBeforeMs, tables.get(tableId)?.notBeforeMs ?? 0),
    isDown: (tableId) => base.isDown || tables.get(tableId)?.isDown === true,
    answered: (tableId) => {
      recover(base);
      recover(tables.get(tableId));
    },
    failed: (tableId, failure) => {
      const trouble = placeOf(tableId, failure);
      trouble.failures += 1;
      const isSlow = slowClasses.includes(failure.class);
      const growingMs = firstBackoffMs * 2 ** Math.min(10, trouble.failures - 1);
      const capMs = isSlow ? maxBackoffMs : Math.min(maxBackoffMs, growingMs);
      const waitMs = Math.max(failure.retryAfterMs ?? 0, capMs / 2 + fullJitterMs(deps.random, capMs / 2));
      trouble.notBeforeMs = deps.clock.monotonicMs() + waitMs;
      deps.logger.warn('write to the table failed, will be tried again', {
        tableId,
        code: failure.code,
        class: failure.class,
        logId: failure.logId,
        waitMs,
      });
      if (trouble.isDown || (!isSlow && trouble.failures < failuresUntilDown)) return;
      trouble.isDown = true;
      deps.onDown(failure, trouble.tableId);
    },
  };
}

function newTrouble(tableId: string | undefined): Trouble {
  return { tableId, failures: 0, isDown: false, notBeforeMs: 0 };
}

function isAboutTable(failure: FeishuFailure): boolean {
  return tableClasses.includes(failure.class) && !baseCodes.has(failure.code) && failure.code < firstGatewayCode;
}
