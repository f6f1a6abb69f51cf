import type { AttemptState, ChargeFilter, ExecutionParts, ExecutionStatus, Store } from '../../engine/ports/index.ts';
import type { ExecutionId } from '../../kernel/index.ts';
import type { Decoder } from './decode.ts';
import { numberOf, type Row, type RunQuery, textOf } from './rows.ts';

/** Every read of the port that is one query; both stores share them and bring only `run`. */
export type StoreReads = Pick<
  Store,
  | 'execution'
  | 'executionByKey'
  | 'executions'
  | 'unfinished'
  | 'unfinishedHeads'
  | 'executionParts'
  | 'nodes'
  | 'attempts'
  | 'attempt'
  | 'attemptsInState'
  | 'openAttemptsOfEnded'
  | 'attemptsByFingerprint'
  | 'charges'
  | 'chargesOfAttempt'
  | 'events'
  | 'lastEventSeq'
  | 'outbox'
  | 'blob'
  | 'document'
  | 'documents'
  | 'remembered'
  | 'lastGood'
  | 'isControlWaiting'
>;

/** The condition of the partial index over executions that go on; a word unknown to this version counts as going on. */
export const isOpenExecution = `status NOT IN ('succeeded', 'partial', 'failed', 'canceled')`;
const openStatuses: ReadonlySet<ExecutionStatus> = new Set(['queued', 'running', 'held']);
/** The same for attempts that may still change. */
export const isOpenAttempt = `state NOT IN ('refused', 'not-accepted', 'succeeded', 'failed', 'expired', 'canceled')`;
const finalStates: ReadonlySet<AttemptState> = new Set([
  'refused',
  'not-accepted',
  'succeeded',
  'failed',
  'expired',
  'canceled',
]);

export function createReads(run: RunQuery, decoder: Decoder): StoreReads {
  return { ...executionReads(run, decoder), ...moneyReads(run, decoder), ...logReads(run, decoder) };
}

/** Collects conditions with their parameters, numbering the placeholders. */
function conditions(): {
  readonly add: (text: (place: string) => string, value: string | number) => void;
  readonly addText: (text: string) => void;
  readonly addIn: (column: string, values: readonly string[] | undefined) => void;
  readonly addPrefix: (column: string, prefix: string | undefined) => void;
  readonly next: (value: string | number) => string;
  readonly where: () => string;
  readonly params: (string | number)[];
} {
  const parts: string[] = [];
  const params: (string | number)[] = [];
  const next = (value: string | number): string => `?${params.push(value)}`;
  return {
    params,
    next,
    add: (text, value) => parts.push(text(next(value))),
    addText: (text) => parts.push(text),
    addIn: (column, values) => {
      if (values !== undefined)
        parts.push(values.length === 0 ? '1 = 0' : `${column} IN (${values.map(next).join(', ')})`);
    },
    // A range that an index serves; U+10FFFF sorts after every character that a reference may hold.
    addPrefix: (column, prefix) => {
      if (prefix === undefined || prefix === '') return;
      parts.push(`${column} >= ${next(prefix)} AND ${column} < ${next(`${prefix}\u{10FFFF}`)}`);
    },
    where: () => (parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`),
  };
}

type ExecutionReads = Pick<
  StoreReads,
  | 'execution'
  | 'executionByKey'
  | 'executions'
  | 'unfinished'
  | 'unfinishedHeads'
  | 'executionParts'
  | 'nodes'
  | 'attempts'
  | 'attempt'
  | 'attemptsInState'
  | 'openAttemptsOfEnded'
  | 'attemptsByFingerprint'
>;

function executionReads(run: RunQuery, decoder: Decoder): ExecutionReads {
  return {
    execution: async (id) => first(await run('SELECT * FROM executions WHERE id = ?1', [id]), decoder.execution),
    executionByKey: async (key) =>
      first(await run('SELECT * FROM executions WHERE idempotency_key = ?1', [key]), decoder.execution),
    executions: async (filter) => {
      const where = conditions();
      where.addIn('status', filter.statuses);
      // Said in the words of the partial index, without which all that ever ended is looked through.
      if (filter.statuses?.every((status) => openStatuses.has(status)) === true) where.addText(isOpenExecution);
      where.addPrefix('source_ref', filter.sourceRefPrefix);
      if (filter.before !== undefined) where.add((place) => `id < ${place}`, filter.before);
      const sql = `SELECT * FROM executions ${where.where()} ORDER BY id DESC LIMIT ${where.next(filter.limit)}`;
      return (await run(sql, where.params)).map(decoder.execution);
    },
    unfinished: async (limit, after) => {
      const sql = `SELECT * FROM executions WHERE ${isOpenExecution} AND id > ?1 ORDER BY id LIMIT ?2`;
      return (await run(sql, [after ?? '', limit])).map(decoder.execution);
    },
    unfinishedHeads: async (limit, after) => {
      const sql = `SELECT id, owner, epoch FROM executions WHERE ${isOpenExecution} AND id > ?1 ORDER BY id LIMIT ?2`;
      return (await run(sql, [after ?? '', limit])).map(decoder.head);
    },
    executionParts: async (ids) => await readParts(run, decoder, ids),
    nodes: async (id) =>
      (await run('SELECT * FROM nodes WHERE execution_id = ?1 ORDER BY path', [id])).map(decoder.node),
    attempts: async (id) =>
      (await run('SELECT * FROM attempts WHERE execution_id = ?1 ORDER BY id', [id])).map(decoder.attempt),
    attempt: async (id) => first(await run('SELECT * FROM attempts WHERE id = ?1', [id]), decoder.attempt),
    attemptsInState: async (states, limit) => {
      const where = conditions();
      where.addIn('state', states);
      const open = states.some((state) => finalStates.has(state)) ? '' : `AND ${isOpenAttempt}`;
      const sql = `SELECT * FROM attempts ${where.where()} ${open} ORDER BY id LIMIT ${where.next(limit)}`;
      return (await run(sql, where.params)).map(decoder.attempt);
    },
    openAttemptsOfEnded: async (limit) => {
      const sql = `SELECT attempts.* FROM attempts JOIN executions ON executions.id = attempts.execution_id
        WHERE ${isOpenAttempt} AND NOT (${isOpenExecution}) ORDER BY attempts.id LIMIT ?1`;
      return (await run(sql, [limit])).map(decoder.attempt);
    },
    attemptsByFingerprint: async (fingerprint) => {
      const sql = `SELECT * FROM attempts WHERE fingerprint = ?1 AND state = 'succeeded'
        AND NOT EXISTS (SELECT 1 FROM remembered WHERE remembered.fingerprint = attempts.fingerprint) ORDER BY id`;
      return (await run(sql, [fingerprint])).map(decoder.attempt);
    },
  };
}

/** Lists are filled up to one of these lengths with their last id, so that few statements are prepared. */
const listLengths = [1, 32, 1_000];

async function readParts(
  run: RunQuery,
  decoder: Decoder,
  ids: readonly ExecutionId[],
): Promise<readonly ExecutionParts[]> {
  const length = listLengths.find((each) => each >= ids.length);
  const last = ids.at(-1);
  if (length === undefined) throw new Error(`${ids.length} executions are too many to be read at once`);
  if (last === undefined) return [];
  const params = Array.from({ length }, (_unused, at) => ids[at] ?? last);
  const places = params.map((_id, at) => `?${at + 1}`).join(', ');
  const [records, nodes, attempts] = await Promise.all([
    run(`SELECT * FROM executions WHERE id IN (${places}) ORDER BY id`, params),
    run(`SELECT * FROM nodes WHERE execution_id IN (${places}) ORDER BY execution_id, path`, params),
    run(`SELECT * FROM attempts WHERE execution_id IN (${places}) ORDER BY id`, params),
  ]);
  const nodesOf = Map.groupBy(nodes, byExecution);
  const attemptsOf = Map.groupBy(attempts, byExecution);
  return records.map(decoder.execution).map((record) => ({
    record,
    nodes: (nodesOf.get(record.id) ?? []).map(decoder.node),
    attempts: (attemptsOf.get(record.id) ?? []).map(decoder.attempt),
  }));
}

function byExecution(row: Row): string {
  return textOf(row, 'execution_id');
}

function moneyReads(run: RunQuery, decoder: Decoder): Pick<StoreReads, 'charges' | 'chargesOfAttempt'> {
  return {
    charges: async (filter) => {
      const where = chargeConditions(filter);
      return (await run(`SELECT * FROM charges ${where.where()} ORDER BY id`, where.params)).map(decoder.charge);
    },
    chargesOfAttempt: async (id) =>
      (await run('SELECT * FROM charges WHERE attempt_id = ?1 ORDER BY id', [id])).map(decoder.charge),
  };
}

/** `fromMs` and `toMs` bound the moment of the reservation, when the money was committed; `toMs` is exclusive. */
function chargeConditions(filter: ChargeFilter): ReturnType<typeof conditions> {
  const where = conditions();
  where.addPrefix('source_ref', filter.sourceRefPrefix);
  if (filter.executionId !== undefined) where.add((place) => `execution_id = ${place}`, filter.executionId);
  if (filter.fromMs !== undefined) where.add((place) => `reserved_at >= ${place}`, filter.fromMs);
  // Bounded on both sides, or SQLite takes the range for a long one and reads the whole ledger in the order of its ids.
  const toMs = filter.toMs ?? (filter.fromMs === undefined ? undefined : Number.MAX_SAFE_INTEGER);
  if (toMs !== undefined) where.add((place) => `reserved_at < ${place}`, toMs);
  if (filter.agent !== undefined) where.add((place) => `agent = ${place}`, filter.agent);
  if (filter.submitter !== undefined) where.add((place) => `submitter = ${place}`, filter.submitter);
  where.addIn('state', filter.states);
  return where;
}

type LogReads = Omit<StoreReads, keyof ExecutionReads | 'charges' | 'chargesOfAttempt'>;

function logReads(run: RunQuery, decoder: Decoder): LogReads {
  return {
    events: async (afterSeq, limit, filter) => {
      const where = conditions();
      where.add((place) => `seq > ${place}`, afterSeq);
      if (filter?.executionId !== undefined) where.add((place) => `execution_id = ${place}`, filter.executionId);
      where.addIn('type', filter?.types);
      const sql = `SELECT * FROM events ${where.where()} ORDER BY seq LIMIT ${where.next(limit)}`;
      return (await run(sql, where.params)).map(decoder.event);
    },
    lastEventSeq: async () => {
      const rows = await run('SELECT COALESCE(MAX(seq), 0) AS seq FROM events', []);
      return rows[0] === undefined ? 0 : numberOf(rows[0], 'seq');
    },
    outbox: async (limit, afterSeq = 0) => {
      const rows = await run('SELECT * FROM outbox WHERE seq > ?1 ORDER BY seq LIMIT ?2', [afterSeq, limit]);
      return rows.map(decoder.outbox).filter((entry) => entry !== undefined);
    },
    blob: async (hash) => first(await run('SELECT value FROM blobs WHERE hash = ?1', [hash]), decoder.blob),
    document: async (collection, key) => {
      const sql = 'SELECT * FROM documents WHERE collection = ?1 AND key = ?2';
      return first(await run(sql, [collection, key]), decoder.document);
    },
    documents: async (collection, options = {}) => {
      const where = conditions();
      where.add((place) => `collection = ${place}`, collection);
      where.addPrefix('key', options.prefix);
      if (options.after !== undefined) where.add((place) => `key > ${place}`, options.after);
      const limit = options.limit === undefined ? '' : `LIMIT ${where.next(options.limit)}`;
      const sql = `SELECT * FROM documents ${where.where()} ORDER BY key ${limit}`;
      return (await run(sql, where.params)).map(decoder.document);
    },
    remembered: async (fingerprint) =>
      first(await run('SELECT * FROM remembered WHERE fingerprint = ?1', [fingerprint]), decoder.remembered),
    lastGood: async (sourceRef, nodePath) => {
      const sql = `SELECT * FROM remembered WHERE source_ref = ?1 AND node_path = ?2 AND degraded = 0
        ORDER BY at DESC LIMIT 1`;
      return first(await run(sql, [sourceRef, nodePath]), decoder.remembered);
    },
    isControlWaiting: async (seq) => (await run('SELECT 1 FROM controls WHERE seq = ?1', [seq])).length > 0,
  };
}

function first<Row, Value>(rows: readonly Row[], decode: (row: Row) => Value): Value | undefined {
  const [row] = rows;
  return row === undefined ? undefined : decode(row);
}
