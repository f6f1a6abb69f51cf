import type { Pool } from 'pg';
import { isOpenExecution } from '../shared/reads.ts';
import { asStorageError, type ConnectOptions, createPool } from './connect.ts';

/**
 * A cap on what runs at a vendor at once, over all workers: one row a slot, claimed with SKIP LOCKED, so that the cap holds
 * by construction. A claim bears the place of the call, beginning with its execution's id: whoever has the execution may
 * claim and give back in its name, also after a take-over. A worker that slept and has lost it may do neither.
 */
export interface ProviderSlots {
  /** False when all `cap` slots are taken. Claiming again what is held already is true and takes no second slot. */
  readonly claim: (provider: string, cap: number, attempt: string) => Promise<boolean>;
  readonly release: (attempt: string) => Promise<void>;
  /** Gives back what executions hold that are over: their worker died before it could. Claims begin with their id. */
  readonly releaseEnded: () => Promise<number>;
  readonly taken: (provider: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function createProviderSlots(
  options: ConnectOptions & { readonly owner: string },
): Promise<ProviderSlots> {
  const pool = await createPool(options, 2);
  const known = new Map<string, number>();
  const query = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await ask();
    } catch (error) {
      throw asStorageError(error, 'cannot claim a slot');
    }
  };
  return {
    claim: (provider, cap, attempt) =>
      query(async () => {
        if ((known.get(provider) ?? 0) < cap) {
          await addSlots(pool, provider, cap);
          known.set(provider, cap);
        }
        return await claimSlot(pool, provider, cap, options.owner, attempt);
      }),
    release: (attempt) =>
      query(async () => {
        const sql = `UPDATE provider_slots SET owner = NULL, claim = NULL WHERE claim = $1 AND ${isOurs('$1', '$2')}`;
        await pool.query(sql, [attempt, options.owner]);
      }),
    releaseEnded: () =>
      query(async () => {
        const sql = `UPDATE provider_slots SET owner = NULL, claim = NULL FROM executions
          WHERE claim IS NOT NULL AND executions.id = split_part(claim, ':', 1) AND NOT (${isOpenExecution})`;
        return (await pool.query(sql)).rowCount ?? 0;
      }),
    taken: (provider) =>
      query(async () => {
        const sql = 'SELECT count(*)::int AS taken FROM provider_slots WHERE provider = $1 AND claim IS NOT NULL';
        return (await pool.query<{ taken: number }>(sql, [provider])).rows[0]?.taken ?? 0;
      }),
    close: () => pool.end(),
  };
}

/** Nobody else has the claim's execution. */
function isOurs(claim: string, owner: string): string {
  return `NOT EXISTS (
    SELECT 1 FROM executions WHERE id = split_part(${claim}, ':', 1) AND executions.owner IS DISTINCT FROM ${owner})`;
}

async function addSlots(pool: Pool, provider: string, cap: number): Promise<void> {
  const sql =
    'INSERT INTO provider_slots (provider, slot) SELECT $1, generate_series(1, $2::int) ON CONFLICT DO NOTHING';
  await pool.query(sql, [provider, cap]);
}

async function claimSlot(pool: Pool, provider: string, cap: number, owner: string, attempt: string): Promise<boolean> {
  const sql = `
    WITH mine AS (SELECT slot FROM provider_slots WHERE provider = $1 AND claim = $4),
      free AS (
        SELECT slot FROM provider_slots
        WHERE provider = $1 AND slot <= $2 AND claim IS NULL AND NOT EXISTS (SELECT 1 FROM mine) AND ${isOurs('$4', '$3')}
        ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED),
      claimed AS (
        UPDATE provider_slots SET owner = $3, claim = $4 FROM free
        WHERE provider_slots.provider = $1 AND provider_slots.slot = free.slot RETURNING provider_slots.slot)
    SELECT slot FROM claimed UNION ALL SELECT slot FROM mine`;
  return (await pool.query(sql, [provider, cap, owner, attempt])).rows.length > 0;
}
