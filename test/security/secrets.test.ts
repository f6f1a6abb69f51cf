import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxVariables, waitUntil } from '../../src/app/index.ts';
import { createDirectoryFiles, formatFault, loadConfig } from '../../src/config/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { openOutside, type Outside, projectDirectory } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

const clock = createSystemClock();

/** Recognisable wherever they turn up. */
const canaries = {
  KIE_API_KEY: 'canary-kie-7f3a91',
  TOAPIS_API_KEY: 'sk-canary-toapis-5521',
  ARK_API_KEY: 'canary-ark-88ab02',
  DASHSCOPE_API_KEY: 'sk-canary-dashscope-19',
  LLM_PRIMARY_API_KEY: 'sk-canary-llm-primary',
  LLM_BACKUP_API_KEY: 'sk-canary-llm-backup',
  LLM_THIRD_API_KEY: 'sk-canary-llm-third',
  PUSHPLUS_TOKEN: 'canary-pushplus-00ff',
} as const;
const signature = 'canary-signature-e1e1';
const phone = '13912345678';

let outside: Outside;
let worker: WorkerProcess | undefined;
beforeEach(async () => {
  outside = await openOutside();
});
afterEach(async () => {
  await worker?.kill();
  worker = undefined;
  await outside.close();
});

/** Every file below a folder, whole. */
async function filesBelow(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path, await readFile(path));
  }
  return files;
}

/** Vendors that repeat what they were sent, in whatever they answer. */
function everythingFails(env: Readonly<Record<string, string>>): void {
  const { faults } = outside.sandbox;
  const link = `https://files.example/a.png?Expires=1&Signature=${signature}&token=${signature}`;
  const echo = (key: string): string => `rejected: Authorization: Bearer ${key} (see ${link})`;
  const appSecret = env['FEISHU_APP_SECRET'] ?? '';
  faults.add({
    endpoint: 'feishu.tenantToken',
    action: { kind: 'answer', status: 502, body: { msg: echo(appSecret) } },
  });
  faults.add({
    endpoint: 'feishu.*',
    action: { kind: 'answer', status: 502, body: { msg: echo(appSecret) } },
    skip: 4,
    count: 3,
  });
  for (const [endpoint, key] of [
    ['kie.*', canaries.KIE_API_KEY],
    ['toapis.*', canaries.TOAPIS_API_KEY],
    ['ark.*', canaries.ARK_API_KEY],
    ['dashscope.*', canaries.DASHSCOPE_API_KEY],
    ['pushplus.*', canaries.PUSHPLUS_TOKEN],
  ] as const) {
    const body = { code: 500, msg: echo(key), message: echo(key), error: { code: 'x', message: echo(key) } };
    // kie says no for good, so that the row ends; a refused key pauses the vendor.
    const status = endpoint === 'kie.*' ? 422 : 403;
    faults.add({ endpoint, action: { kind: 'answer', status, body: { ...body, code: status } }, count: Infinity });
  }
}

describe('secrets', () => {
  it('P174 show up in no log, cell, page, event or data file, though every vendor repeats them', async () => {
    const env: Readonly<Record<string, string>> = { ...outside.env, ...canaries, GRIDLOOM_LOG_LEVEL: 'debug' };
    everythingFails(env);
    const { table } = outside.sandbox;
    const recordId = table.createRow(outside.table, {
      产品图: [{ file_token: await outside.picture() }],
      产品说明: `真丝衬衫，咨询 ${phone}`,
      操作: '提交',
    });
    worker = startWorkerProcess(env);
    const hasEnded = await waitUntil(
      clock,
      () => Promise.resolve(['失败', '待核对'].includes(table.text(outside.table, recordId, '状态'))),
      50,
      40_000,
    );
    expect(hasEnded, `${JSON.stringify(table.row(outside.table, recordId))}${worker.output()}`).toBe(true);
    await worker.kill('SIGTERM');

    const places = new Map<string, string>([
      ['the terminal', worker.output()],
      ['the row', JSON.stringify(table.row(outside.table, recordId))],
    ]);
    for (const [path, bytes] of await filesBelow(outside.dataDir)) places.set(path, bytes.toString('latin1'));
    const names = [...places.keys()].join('\n');
    for (const wanted of ['gridloom.db', 'gridloom.log', 'metrics.json']) expect(names).toContain(wanted);
    // The twin: what was searched is what the worker wrote about this very row.
    expect([...places].some(([path, text]) => path.endsWith('gridloom.log') && text.includes('403'))).toBe(true);

    const secrets = [...Object.values(canaries), outside.env['FEISHU_APP_SECRET'] ?? '', signature];
    const found = [...places].flatMap(([place, text]) =>
      secrets.filter((secret) => secret !== '' && text.includes(secret)).map((secret) => `${secret} in ${place}`),
    );
    expect(found).toEqual([]);
    for (const [place, text] of places)
      if (/log|metrics|terminal|webmon/.test(place)) expect(text, place).not.toContain(phone);
  }, 90_000);

  it('P174 data files are for their owner alone; what the page reads is not', async () => {
    worker = startWorkerProcess(outside.env);
    const isUp = await waitUntil(
      clock,
      async () => {
        const names = await readdir(join(outside.dataDir, 'webmon')).catch((): string[] => []);
        return names.includes('metrics.json');
      },
      50,
      25_000,
    );
    expect(isUp, worker.output()).toBe(true);
    const data = outside.env['GRIDLOOM_DATA_DIR'] ?? '';
    const modes = async (root: string): Promise<readonly string[]> => {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      const paths = [root, ...entries.map((entry) => join(entry.parentPath, entry.name))];
      return await Promise.all(
        paths.map(async (path) => `${((await stat(path)).mode & 0o077).toString(8)} ${path.slice(root.length)}`),
      );
    };
    expect((await modes(data)).filter((line) => !line.startsWith('0 '))).toEqual([]);
    expect((await stat(join(outside.dataDir, 'webmon', 'metrics.json'))).mode & 0o777).toBe(0o644);
  }, 60_000);

  it('P174 a start that fails tells what is wrong, not what is secret', async () => {
    worker = startWorkerProcess({ ...outside.env, ...canaries, FEISHU_APP_SECRET: 'canary-app-secret-wrong' });
    const started = worker;
    const log = join(outside.env['GRIDLOOM_DATA_DIR'] ?? '', 'logs', 'gridloom.log');
    const isTold = await waitUntil(
      clock,
      async () => `${started.output()}${await readFile(log, 'utf8').catch(() => '')}`.includes('10014'),
      50,
      20_000,
    );
    expect(isTold, started.output()).toBe(true);
    await worker.kill();
    expect(worker.output()).not.toContain('canary');
    for (const [path, bytes] of await filesBelow(outside.dataDir)) expect(bytes.includes('canary'), path).toBe(false);
  }, 60_000);

  it.each([
    ['a misspelt name', 'KIE_API_KEYS=canary-misspelt'],
    ['a line that is none', 'KIE_API_KEY canary-no-equals'],
    ['an address with a password', 'KIE_BASE_URL=http://user:canary-password@'],
    ['a database address', 'DATABASE_URL=mysql://user:canary-password@host/db'],
    ['a heartbeat address', 'HEARTBEAT_URL=ftp://ping/canary-token'],
    ['a quote that is not closed', 'PUSHPLUS_TOKEN="canary-open'],
    ['a setting that holds a key', 'GRIDLOOM__POLL__INTERVAL=canary-in-the-wrong-place'],
  ])('P174 %s in .env is told by its name, without its value', async (_what, line) => {
    const shipped = createDirectoryFiles(projectDirectory);
    const env = { ...sandboxVariables(outside.origin, new Map()), GRIDLOOM_MODE: 'live' };
    const files = { ...shipped, read: async (file: string) => (file === '.env' ? line : await shipped.read(file)) };
    const [name] = line.split(/[= ]/);
    const rest = Object.fromEntries(Object.entries(env).filter(([each]) => each !== name));
    const loaded = await loadConfig({ files, env: rest });
    const words = loaded.ok ? '' : loaded.failure.map(formatFault).join('\n');
    expect(words).toContain('.env');
    expect(words.replaceAll('canary-in-the-wrong-place', '')).not.toContain('canary');
  });
});
