import type { ConflictCode } from '../../engine/ports/index.ts';
import type { Operation } from '../shared/encode.ts';
import { type WriteName, writeStatements } from '../shared/statements.ts';
import { type Connection, storageAdvice } from './open.ts';
import { type Param, plainPlaces } from './places.ts';

/** What became of one list; plain data, so that it may cross from a thread. */
export type ListOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'conflict'; readonly code: ConflictCode; readonly message: string }
  | { readonly kind: 'storage'; readonly message: string }
  /** A statement that SQLite refuses (a constraint): a bug in the caller. */
  | { readonly kind: 'refused'; readonly message: string };

export interface BatchWriter {
  /**
   * Writes the lists in one transaction with one fsync; a list that fails leaves nothing and does not hurt the others.
   * Hardly ever does one fail, so they are written without savepoints first; and anew, each under one, where one did.
   */
  write(lists: readonly (readonly Operation[])[]): readonly ListOutcome[];
  sendControl(at: number, value: string): number;
}

const written: ListOutcome = { kind: 'written' };

/** Thrown inside a list to leave it; never seen outside. */
class ListRefused extends Error {
  readonly code: ConflictCode;

  constructor(code: ConflictCode, operation: Operation) {
    super(`${operation.statement} of ${operation.params[0]} changed nothing: ${code}`);
    this.code = code;
  }
}

/** `slowSyncMs` is added to each commit: a slow disk, for measurements. */
export function createBatchWriter(connection: Connection, slowSyncMs = 0): BatchWriter {
  const statements = new Map(Object.entries(writeStatements).map(([name, sql]) => [name, prepare(connection, sql)]));
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  const savepoint = connection.prepare('SAVEPOINT list');
  const release = connection.prepare('RELEASE list');
  const back = connection.prepare('ROLLBACK TO list');

  const runOperations = (operations: readonly Operation[]): void => {
    for (const operation of operations) {
      const result = statementOf(statements, operation.statement)(operation.params);
      if (result.changes === 0 && operation.conflict !== undefined)
        throw new ListRefused(operation.conflict, operation);
    }
  };
  const runList = (operations: readonly Operation[]): ListOutcome => {
    savepoint.run();
    try {
      runOperations(operations);
      release.run();
      return written;
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome.kind === 'storage') throw error;
      back.run();
      release.run();
      return outcome;
    }
  };
  const inTransaction = (work: () => readonly ListOutcome[]): readonly ListOutcome[] => {
    begin.run();
    const outcomes = work();
    commit.run();
    if (slowSyncMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, slowSyncMs);
    return outcomes;
  };
  const writeAll = (lists: readonly (readonly Operation[])[]): readonly ListOutcome[] =>
    inTransaction(() =>
      lists.map((operations) => {
        runOperations(operations);
        return written;
      }),
    );
  return {
    write: (lists) => {
      try {
        return writeAll(lists);
      } catch (error) {
        rollBack(connection);
        const outcome = outcomeOf(error);
        if (outcome.kind === 'storage') return lists.map(() => outcome);
      }
      try {
        return inTransaction(() => lists.map(runList));
      } catch (error) {
        rollBack(connection);
        const outcome = outcomeOf(error);
        return lists.map(() => outcome);
      }
    },
    sendControl: (at, value) => Number(statementOf(statements, 'sendControl')([at, value]).lastInsertRowid),
  };
}

type RunStatement = (params: readonly Param[]) => {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
};

function prepare(connection: Connection, text: string): RunStatement {
  const { sql, order } = plainPlaces(text);
  const statement = connection.prepare(sql);
  return order === undefined ? (params) => statement.run(...params) : (params) => statement.run(...order(params));
}

function statementOf<Statement>(statements: ReadonlyMap<string, Statement>, name: WriteName): Statement {
  const statement = statements.get(name);
  if (statement === undefined) throw new Error(`no statement ${name}`);
  return statement;
}

/** After SQLITE_FULL or an I/O error SQLite may have rolled back by itself. */
function rollBack(connection: Connection): void {
  if (connection.inTransaction) connection.exec('ROLLBACK');
}

function outcomeOf(error: unknown): ListOutcome {
  if (error instanceof ListRefused) return { kind: 'conflict', code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  const words = storageAdvice(error);
  if (words !== undefined) return { kind: 'storage', message: `${words} (${message})` };
  return { kind: 'refused', message };
}
