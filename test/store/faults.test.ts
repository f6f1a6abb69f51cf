import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { StorageError, type Store } from '../../src/engine/ports/index.ts';
import { createVirtualClock, type LogFields, type Logger, silentLogger } from '../../src/kernel/index.ts';
import { createSqliteStore, createThreadedSqliteStore, type SqliteStoreOptions } from '../../src/store/index.ts';
import { migrate } from '../../src/store/sqlite/open.ts';
import { migrations } from '../../src/store/sqlite/schema.ts';
import { aNode, anAttempt, anAttemptId, anExecution, anExecutionId } from './records.ts';
import { useDirectory } from './directory.ts';

const clock = createVirtualClock();
const open = (path: string, more: Partial<SqliteStoreOptions> = {}) =>
  createSqliteStore({ path, clock, logger: silentLogger, ...more });
const event = (at: number, text = '') =>
  ({ type: 'append-event', event: { at, type: 'notice', data: { text } } }) as const;

/** Fills the store until a commit is refused; returns the refusal. */
async function fill(store: Store): Promise<unknown> {
  for (let at = 1; at < 2_000; at += 1) {
    const refusal: unknown = await store.commit([event(at, 'x'.repeat(2_000))]).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

describe('a disk that will not take the write', () => {
  const directory = useDirectory();

  it.each([
    ['on this thread', createSqliteStore],
    ['in a thread', createThreadedSqliteStore],
  ])(
    'P109 refuses a commit whole when the disk is full, and writes again when there is room (%s)',
    async (_name, create) => {
      const path = directory.file('a.db');
      const small = create({ path, clock, logger: silentLogger, maxPages: 60 });
      const refusal = await fill(small);
      expect(refusal).toBeInstanceOf(StorageError);
      expect(String(refusal)).toContain('the disk is full: free some space');
      const lastSeq = await small.lastEventSeq();
      const mixed = small.commit([event(1), event(2, 'y'.repeat(50_000))]);
      await expect(mixed).rejects.toBeInstanceOf(StorageError);
      expect(await small.lastEventSeq()).toBe(lastSeq);
      await small.close();

      const roomy = open(path);
      await roomy.commit([event(9)]);
      expect(await roomy.lastEventSeq()).toBe(lastSeq + 1);
      await roomy.close();
    },
  );

  it('says that another process holds the file instead of calling it damaged (P142)', async () => {
    const path = directory.file('a.db');
    const store = open(path, { busyTimeoutMs: 20 });
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.commit([event(1)])).rejects.toThrow('another process holds the database');
    other.exec('COMMIT');
    await store.commit([event(1)]);
    other.close();
    await store.close();
  });

  it('refuses a folder that is not there, a file that is a folder, a damaged file and one of another program', () => {
    expect(() => open(directory.file('none/a.db'))).toThrow(StorageError);
    expect(() => open(directory.file('none/a.db'))).toThrow('the folder does not exist');

    mkdirSync(directory.file('folder.db'));
    expect(() => open(directory.file('folder.db'))).toThrow('the file cannot be opened');

    writeFileSync(directory.file('garbage.db'), 'this is no database, whatever its name says. '.repeat(100));
    expect(() => open(directory.file('garbage.db'))).toThrow('the file is no database: restore the last backup');

    const foreign = new Database(directory.file('foreign.db'));
    foreign.exec('CREATE TABLE photos (id)');
    foreign.close();
    expect(() => open(directory.file('foreign.db'))).toThrow('a database of another program');
  });

  it('reports a page that was overwritten as damage, with what to do', async () => {
    const path = directory.file('a.db');
    const store = open(path);
    for (let at = 1; at < 50; at += 1) await store.commit([event(at, 'x'.repeat(3_000))]);
    await store.close();
    const damaged = new Database(path);
    const pages = Number(damaged.pragma('page_count', { simple: true }));
    damaged.close();
    const descriptor = openSync(path, 'r+');
    for (let page = 2; page < pages; page += 1)
      writeSync(descriptor, Buffer.alloc(4_096, 0x5a), 0, 4_096, page * 4_096);
    closeSync(descriptor);
    const work = async (): Promise<unknown> => {
      const reopened = open(path);
      try {
        return await reopened.events(0, 100);
      } finally {
        await reopened.close();
      }
    };
    await expect(work()).rejects.toThrow('the file is damaged: restore the last backup');
  });
});

describe('a folder that the worker may not write to', () => {
  const directory = useDirectory();
  const script = fileURLToPath(new URL('./read-only.child.ts', import.meta.url));
  /** Root may write anywhere, so the child runs as nobody. */
  const runAsNobody = async (): Promise<Record<string, string>> => {
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const child = spawn(process.execPath, [script, directory.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
      ...nobody,
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    await once(child, 'close');
    return JSON.parse(text) as Record<string, string>;
  };

  it.each(['empty', 'used'])('says that it needs write permission (%s)', async (kind) => {
    if (kind === 'used') {
      const store = open(directory.file('gridloom.db'));
      await store.commit([event(1)]);
      await store.close();
    }
    chmodSync(directory.path, 0o555);
    if (kind === 'used') chmodSync(directory.file('gridloom.db'), 0o444);
    const said = await runAsNobody();
    chmodSync(directory.path, 0o755);
    const asked = /^StorageError: .*(permission|may the worker write to it)/;
    expect(said['store']).toMatch(asked);
    expect(said['lock']).toMatch(asked);
  });
});

describe('schema versions', () => {
  const directory = useDirectory();

  it('refuses a file of a newer version and leaves it as it is', () => {
    const path = directory.file('a.db');
    void open(path).close();
    const newer = new Database(path);
    newer.pragma(`user_version = ${migrations.length + 1}`);
    newer.close();
    expect(() => open(path)).toThrow('written by a newer version of this program');
    const after = new Database(path);
    expect(after.pragma('user_version', { simple: true })).toBe(migrations.length + 1);
    after.close();
  });

  it('P149 migrates an older file once, after keeping a copy of it', () => {
    const path = directory.file('a.db');
    const old = new Database(path);
    old.pragma('journal_mode = WAL');
    migrate(old, path, ['CREATE TABLE a (x); INSERT INTO a VALUES (1)']);
    const steps = ['unused', 'ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1'];
    migrate(old, path, steps);
    migrate(old, path, steps);
    expect(old.prepare('SELECT * FROM a').all()).toEqual([{ x: 1, y: 2 }]);
    old.close();
    const copy = new Database(`${path}.before-v2`);
    expect(copy.prepare('SELECT * FROM a').all()).toEqual([{ x: 1 }]);
    copy.close();
  });

  it('leaves the file as it was when a migration fails half-way', () => {
    const path = directory.file('a.db');
    const old = new Database(path);
    migrate(old, path, ['CREATE TABLE a (x)']);
    expect(() => migrate(old, path, ['', 'CREATE TABLE b (x); CREATE TABLE a (x)'])).toThrow();
    expect(old.pragma('user_version', { simple: true })).toBe(1);
    expect(old.prepare(`SELECT name FROM sqlite_schema`).pluck().all()).toEqual(['a']);
    old.close();
    expect(existsSync(`${path}.before-v2`)).toBe(true);
  });
});

describe('rows that this version did not write (P149)', () => {
  const directory = useDirectory();

  it('P149 reads unknown status words as in doubt, odd members as defaults, and starts', async () => {
    const path = directory.file('a.db');
    const first = open(path);
    await first.commit([
      { type: 'create-execution', record: anExecution(1) },
      { type: 'create-execution', record: anExecution(2) },
      { type: 'put-node', record: aNode(1, 'draw'), epoch: 0 },
      { type: 'create-attempt', record: anAttempt(1, 1, { state: 'accepted', handle: { taskId: 't' } }), epoch: 0 },
    ]);
    await first.close();
    const hand = new Database(path);
    hand.exec(`
      UPDATE executions SET status = 'paused-by-admin', body = json_set(body, '$.generation', -3, '$.marks', 'x') WHERE id = '${anExecutionId(1)}';
      UPDATE executions SET body = 'not json' WHERE id = '${anExecutionId(2)}';
      UPDATE nodes SET status = 'exploded';
      UPDATE attempts SET state = 'zombie', body = json_remove(json_set(body, '$.polls', -1), '$.provider');
    `);
    hand.close();
    const warnings: (LogFields | undefined)[] = [];
    const logger: Logger = { ...silentLogger, warn: (_message, fields) => warnings.push(fields) };
    const store = open(path, { logger });
    expect(await store.execution(anExecutionId(1))).toEqual(anExecution(1, { status: 'held', generation: 0 }));
    expect(await store.execution(anExecutionId(2))).toMatchObject({ status: 'queued', workflow: '', input: {} });
    expect(await store.nodes(anExecutionId(1))).toMatchObject([{ status: 'held' }]);
    expect(await store.attempt(anAttemptId(1))).toMatchObject({
      state: 'unknown',
      polls: 0,
      provider: '',
      handle: { taskId: 't' },
    });
    expect(await store.unfinished(9)).toHaveLength(2);
    // The word was put right in the file too, so that a settlement that expects it succeeds.
    const settled = anAttempt(1, 1, { state: 'succeeded' });
    await store.commit([{ type: 'put-attempt', record: settled, expected: ['unknown'] }]);
    expect(warnings[0]).toEqual({ executions: 1, attempts: 1 });
    await store.close();
  });
});
