import type { Pool } from 'pg';
import { type Clock, type ExecutionId, executionId, type Logger, sleep } from '../../kernel/index.ts';
import { isOpenExecution } from '../shared/reads.ts';

export interface LookoutOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isGone: (owner: string) => Promise<boolean>;
  /** Announces executions to all workers. */
  readonly send: (ids: readonly string[]) => Promise<void>;
  readonly takeUp: (id: ExecutionId) => Promise<void>;
  readonly signal: AbortSignal;
}

const lookMs = 100;
/** Who owns unfinished executions is asked of the database so often; in between the known owners are watched. */
const ownersMs = 1_000;
/** Executions nobody owns are offered again after this long. */
const sweepMs = 30_000;
const takenAtOnce = 50;

/**
 * Hands on what workers that are gone had. What such an owner drove is announced, so that it spreads over those who live; what
 * is still its own at the next look is taken up here: its message may be in the dead worker's hands, or have come to one
 * that was not yet sure of the death.
 */
export function createLookout(options: LookoutOptions): () => Promise<void> {
  const { pool, clock, send } = options;
  const announced = new Set<string>();
  let owners: readonly string[] = [];
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let sweptAtMs = clock.monotonicMs();
  const ownedBy = async (owner: string | null): Promise<readonly string[]> => {
    const sql = `SELECT id FROM executions WHERE ${isOpenExecution} AND owner IS NOT DISTINCT FROM $1`;
    return (await pool.query<{ id: string }>(sql, [owner])).rows.map((row) => row.id);
  };
  const readOwners = async (): Promise<readonly string[]> => {
    const sql = `SELECT DISTINCT owner FROM executions WHERE ${isOpenExecution} AND owner IS NOT NULL`;
    return (await pool.query<{ owner: string }>(sql)).rows.map((row) => row.owner);
  };
  const handOn = async (owner: string): Promise<void> => {
    const ids = await ownedBy(owner);
    if (ids.length === 0) announced.delete(owner);
    else if (announced.has(owner)) {
      await Promise.all(ids.slice(0, takenAtOnce).map(async (id) => await options.takeUp(executionId(id))));
    } else {
      announced.add(owner);
      await send(ids);
    }
  };
  const look = async (): Promise<void> => {
    const nowMs = clock.monotonicMs();
    if (nowMs - askedAtMs >= ownersMs) {
      owners = await readOwners();
      askedAtMs = nowMs;
    }
    for (const owner of owners) if (await options.isGone(owner)) await handOn(owner);
    if (nowMs - sweptAtMs < sweepMs) return;
    sweptAtMs = nowMs;
    await send(await ownedBy(null));
  };
  return async () => {
    while (!options.signal.aborted) {
      await look().catch((error: unknown) => {
        options.logger.warn('cannot look for executions whose owner is gone; looking again', { error });
      });
      await sleep(clock, lookMs, options.signal).catch(() => undefined);
    }
  };
}
