import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/kernel/index.ts';
import { createDecoder } from '../../src/store/shared/decode.ts';
import { createReads, type StoreReads } from '../../src/store/shared/reads.ts';
import { repairAttempts, repairExecutions } from '../../src/store/shared/repair.ts';
import { writeStatements } from '../../src/store/shared/statements.ts';
import { type Connection, openDatabase } from '../../src/store/sqlite/open.ts';
import { plainPlaces, readPlace } from '../../src/store/sqlite/places.ts';
import { anAttemptId, anExecutionId } from './records.ts';

/** How SQLite means to find the rows, a line a step. */
function planOf(connection: Connection, text: string): string[] {
  const { sql } = plainPlaces(text, readPlace);
  const values = Array.from({ length: sql.split('?').length - 1 }, () => null);
  return connection
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values)
    .map(({ detail }) => detail);
}

const id = anExecutionId(1);
const row = 'bitable:app/table/row1#';
const readings: Readonly<Record<string, (reads: StoreReads) => Promise<unknown>>> = {
  'an execution': (reads) => reads.execution(id),
  'an execution by its key': (reads) => reads.executionByKey('key'),
  'the executions of a row': (reads) => reads.executions({ sourceRefPrefix: row, limit: 9 }),
  'what a worker takes up': (reads) => reads.unfinished(9),
  'the heads of what it takes up': (reads) => reads.unfinishedHeads(9, id),
  'many executions whole': (reads) => reads.executionParts([id]),
  nodes: (reads) => reads.nodes(id),
  attempts: (reads) => reads.attempts(id),
  'an attempt': (reads) => reads.attempt(anAttemptId(1)),
  'attempts bought before for the same': (reads) => reads.attemptsByFingerprint('print'),
  'the charges of an execution': (reads) => reads.charges({ executionId: id }),
  'the charges of an attempt': (reads) => reads.chargesOfAttempt(anAttemptId(1)),
  'the budget of a row': (reads) => reads.charges({ sourceRefPrefix: row, states: ['reserved', 'settled'] }),
  'the budget of an agent': (reads) => reads.charges({ agent: 'a', fromMs: 5, states: ['reserved', 'settled'] }),
  'the budget of a submitter': (reads) => reads.charges({ submitter: 's', fromMs: 5, states: ['reserved', 'settled'] }),
  'the ledger since an instant': (reads) => reads.charges({ fromMs: 5 }),
  'the ledger of a month': (reads) => reads.charges({ fromMs: 5, toMs: 9 }),
  'the log from a number on': (reads) => reads.events(5, 9, { types: ['execution-ended'] }),
  'the log of an execution': (reads) => reads.events(0, 9, { executionId: id, types: ['execution-ended'] }),
  'the outbox': (reads) => reads.outbox(9),
  'a document': (reads) => reads.document('collection', 'key'),
  'the documents below a prefix': (reads) => reads.documents('collection', { prefix: 'app/', limit: 9 }),
  'what is remembered': (reads) => reads.remembered('print'),
  'the last good result': (reads) => reads.lastGood(row, 'draw'),
};
/** These go through a whole partial index, which holds only what is unfinished. */
const overOpen: typeof readings = {
  'the unfinished in a list': (reads) => reads.executions({ statuses: ['held'], limit: 9 }),
  'the unfinished of several statuses': (reads) => reads.executions({ statuses: ['queued', 'running'], limit: 9 }),
  'open attempts': (reads) => reads.attemptsInState(['intended', 'overdue'], 9),
  'open attempts of ended executions': (reads) => reads.openAttemptsOfEnded(9),
};

describe('with much history, the store', () => {
  const connection = openDatabase({ path: ':memory:', busyTimeoutMs: 0 }, () => undefined);
  const plansOf = async (read: (reads: StoreReads) => Promise<unknown>): Promise<string[]> => {
    const plans: string[] = [];
    const explain = (sql: string): Promise<[]> => {
      plans.push(...planOf(connection, sql));
      return Promise.resolve([]);
    };
    await read(createReads(explain, createDecoder(silentLogger)));
    return plans;
  };

  it.each(Object.entries(readings))('finds %s by an index', async (_what, read) => {
    const plans = await plansOf(read);
    expect(plans).not.toEqual([]);
    expect(plans.filter((step) => step.startsWith('SCAN'))).toEqual([]);
  });

  it.each(Object.entries(overOpen))('looks for %s only among what goes on', async (_what, read) => {
    const scans = (await plansOf(read)).filter((step) => step.startsWith('SCAN'));
    expect(scans).toEqual([expect.stringMatching(/USING INDEX (executions|attempts)_open/)]);
  });

  it.each([repairExecutions, repairAttempts])('puts words right only among what goes on: %s', (sql) => {
    expect(planOf(connection, sql)).toEqual([expect.stringMatching(/USING INDEX (executions|attempts)_open/)]);
  });

  it.each(Object.entries(writeStatements))('writes without looking through a table: %s', (_name, sql) => {
    expect(planOf(connection, sql).filter((step) => step.startsWith('SCAN'))).toEqual([]);
  });

  it('lists the newest executions from the end, and stops at the limit', async () => {
    const plans = await plansOf((reads) => reads.executions({ limit: 9 }));
    expect(plans).toEqual(['SCAN executions']);
  });
});
