import type { Client } from 'pg';
import { z } from 'zod';
import { type Clock, sleep } from '../../kernel/index.ts';
import type { Operation } from '../shared/encode.ts';
import type { GroupOutcome } from '../shared/group.ts';
import { asStorageError, codeOf, connectClient, type ConnectOptions, isStatementFault } from './connect.ts';
import { writeFunctionSql } from './write-function.ts';

export interface GroupWriter {
  /** Names this writer in its row and in what it notifies. */
  readonly id: string;
  readonly write: (lists: readonly (readonly Operation[])[]) => Promise<readonly GroupOutcome[]>;
  readonly close: () => Promise<void>;
}

export interface GroupWriterOptions extends ConnectOptions {
  readonly clock: Clock;
  /** How long a group waits for a database that is away before it counts as refused. */
  readonly patienceMs: number;
  /** In the group's transaction, for each execution that it created; what it writes commits or falls with it. */
  readonly onCreated?: OnCreated | undefined;
}
export type OnCreated = (executionIds: readonly string[], client: Pick<Client, 'query'>) => Promise<void>;

const outcomesSchema = z.array(
  z.union([
    z.object({ kind: z.literal('written') }),
    z.object({
      kind: z.literal('conflict'),
      code: z.enum(['duplicate-key', 'fenced', 'stale-attempt', 'stale-charge', 'document-exists']),
      message: z.string(),
    }),
    z.object({ kind: z.literal('refused'), message: z.string() }),
  ]),
);
/** The losing side of two groups that waited for each other; nothing of it was written, so it goes again at once. */
const goAgainCodes: ReadonlySet<string> = new Set(['40P01', '40001']);
const retryDelayMs = 200;

interface Session {
  readonly client: Client;
  isAlive: boolean;
}

/**
 * Writes groups one after another on a session of its own. When the connection is lost on the way, it is unknown whether
 * the group was committed: the writer connects again and reads the number in its row (waiting for a commit that may still
 * be running), and only a group that is not there is sent again.
 */
export async function createGroupWriter(options: GroupWriterOptions): Promise<GroupWriter> {
  let session: Session | undefined = await openSession(options);
  const created = await session.client.query<{ id: string }>('INSERT INTO writers DEFAULT VALUES RETURNING id');
  const writer = created.rows[0]?.id ?? '';
  const closing = new AbortController();
  let number = 0;

  const attempt = async (group: Group): Promise<readonly GroupOutcome[]> => {
    if (session?.isAlive !== true) {
      session = await openSession(options);
      const known = await findOutcomes(session.client, writer, number);
      if (known !== undefined) return known;
    }
    return await writeOnce(session.client, writer, number, group, options);
  };
  return {
    id: writer,
    write: async (lists) => {
      number += 1;
      const group = asGroup(lists);
      const untilMs = options.clock.monotonicMs() + options.patienceMs;
      for (;;) {
        try {
          return await attempt(group);
        } catch (error) {
          if (isStatementFault(error)) throw asStorageError(error, 'the database refused a group');
          const isAgain = goAgainCodes.has(codeOf(error));
          if (!isAgain && session !== undefined) await discard(session);
          if (closing.signal.aborted || options.clock.monotonicMs() >= untilMs)
            throw asStorageError(error, 'no database');
          options.logger.warn('a group could not be written; trying again', { code: codeOf(error) });
          await sleep(options.clock, isAgain ? 0 : retryDelayMs, closing.signal);
        }
      }
    },
    close: async () => {
      closing.abort();
      await session?.client.query('DELETE FROM writers WHERE id = $1', [writer]).catch(() => undefined);
      await session?.client.end().catch(() => undefined);
    },
  };
}

interface Group {
  readonly json: string;
  readonly appends: boolean;
  readonly createdIds: readonly string[];
}

const appending: ReadonlySet<string> = new Set(['appendEvent', 'appendOutbox']);

function asGroup(lists: readonly (readonly Operation[])[]): Group {
  const operations = lists.flat();
  return {
    json: JSON.stringify(lists),
    appends: operations.some((operation) => appending.has(operation.statement)),
    createdIds: operations
      .filter((operation) => operation.statement === 'createExecution')
      .map((operation) => String(operation.params[0])),
  };
}

async function openSession(options: ConnectOptions): Promise<Session> {
  const client = await connectClient(options);
  const session: Session = { client, isAlive: true };
  client.on('end', () => {
    session.isAlive = false;
  });
  await client.query(writeFunctionSql());
  return session;
}

async function discard(session: Session): Promise<void> {
  session.isAlive = false;
  await session.client.end().catch(() => undefined);
}

async function writeOnce(
  client: Client,
  writer: string,
  number: number,
  group: Group,
  options: GroupWriterOptions,
): Promise<readonly GroupOutcome[]> {
  const sql = 'SELECT pg_temp.write_group($1, $2, $3, $4) AS outcomes';
  const params = [writer, number, group.json, group.appends];
  const { onCreated } = options;
  if (onCreated === undefined || group.createdIds.length === 0)
    return readOutcomes((await client.query<{ outcomes: string }>(sql, params)).rows[0]?.outcomes);
  await client.query('BEGIN');
  try {
    const written = await client.query<{ outcomes: string }>(sql, params);
    await onCreated(group.createdIds, client);
    await client.query('COMMIT');
    return readOutcomes(written.rows[0]?.outcomes);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** The outcomes of a group that was committed although its answer was lost. `FOR UPDATE` waits for one still running. */
async function findOutcomes(
  client: Client,
  writer: string,
  number: number,
): Promise<readonly GroupOutcome[] | undefined> {
  const sql = 'SELECT group_number, outcomes FROM writers WHERE id = $1 FOR UPDATE';
  const found = await client.query<{ group_number: string; outcomes: string | null }>(sql, [writer]);
  const row = found.rows[0];
  return row !== undefined && Number(row.group_number) === number ? readOutcomes(row.outcomes) : undefined;
}

function readOutcomes(text: string | null | undefined): readonly GroupOutcome[] {
  return outcomesSchema.parse(JSON.parse(text ?? '[]'));
}
