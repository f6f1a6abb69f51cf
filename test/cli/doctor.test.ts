import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { gridloom, inProcess, openInstallation } from './kit.ts';

/** Every mistake of the first hour, planted into a healthy installation, is found and named with its remedy. */
interface Finding {
  readonly check: string;
  readonly of?: string;
  readonly level: string;
  readonly what: string;
  readonly advice: string;
}

let outside: Outside;
let env: Record<string, string>;
let directory: string;
let closeInstallation: () => Promise<void>;
beforeEach(async () => {
  outside = await openOutside();
  env = only(outside.env, 'TRY_ON_TABLE_ID');
  const installation = await openInstallation();
  ({ directory } = installation);
  closeInstallation = async () => await installation.close();
});
afterEach(async () => {
  await outside.close();
  await closeInstallation();
});

function only(all: Readonly<Record<string, string>>, table: string): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !name.endsWith('_TABLE_ID') || name === table));
}

async function faultsOf(...args: readonly string[]): Promise<readonly Finding[]> {
  const ran = await inProcess(['doctor', '--json', ...args], env, directory);
  const report = JSON.parse(ran.out) as { ok: boolean; findings: Finding[] };
  const faults = report.findings.filter((finding) => finding.level === 'fault');
  expect(report.ok).toBe(faults.length === 0);
  expect(ran.code).toBe(faults.length === 0 ? 0 : 1);
  for (const fault of faults) expect(fault.advice, fault.what).not.toBe('');
  return faults;
}

const refuse = (endpoint: string, status: number, body: object): void => {
  outside.sandbox.faults.add({
    endpoint,
    count: Number.POSITIVE_INFINITY,
    action: { kind: 'answer', status, body: JSON.parse(JSON.stringify(body)) as Record<string, never> },
  });
};

describe('doctor', () => {
  it('finds nothing in a healthy installation, and leaves no row and no file behind', async () => {
    const rows = outside.sandbox.table.recordIds(outside.table).length;
    const ran = await gridloom(['doctor'], { ...env, GRIDLOOM_DIRECTORY: directory });
    expect(ran.out).toContain('no fault found');
    expect(ran.code).toBe(0);
    expect(outside.sandbox.table.recordIds(outside.table)).toHaveLength(rows);
    for (const words of ['a row was made, changed and read back', 'downloaded again', 'kie: the key works'])
      expect(ran.out).toContain(words);
  });

  it('touches no table with --no-probe', async () => {
    expect(await faultsOf('--no-probe')).toEqual([]);
    const calls = Object.keys(outside.sandbox.books.calls());
    expect(calls.filter((name) => /batchCreate|batchUpdate|upload|im\.create|pushplus/.test(name))).toEqual([]);
  });

  it('interrupted in the middle of its write, it deletes its row before it ends', async () => {
    outside.sandbox.faults.add({ endpoint: 'feishu.records.batchUpdate', count: 1, action: { kind: 'hang' } });
    const rows = outside.sandbox.table.recordIds(outside.table).length;
    const doctor = startWorkerProcess({ ...env, GRIDLOOM_DIRECTORY: directory }, ['doctor']);
    const isWriting = await waitUntil(
      createSystemClock(),
      () => Promise.resolve((outside.sandbox.books.calls()['feishu.records.batchUpdate'] ?? 0) > 0),
      50,
      20_000,
    );
    expect(isWriting, doctor.output()).toBe(true);
    doctor.process.kill('SIGINT');
    expect((await doctor.ended).code, doctor.output()).toBe(1);
    expect(doctor.output()).toContain('deleted again');
    expect(outside.sandbox.table.recordIds(outside.table)).toHaveLength(rows);
  });

  it('names a wrong secret, and asks nothing further of the platform', async () => {
    env['FEISHU_APP_SECRET'] = 'not-the-secret';
    const faults = await faultsOf();
    expect(faults.map(({ check }) => check)).toEqual(['credentials']);
    expect(faults[0]?.advice).toContain('FEISHU_APP_SECRET');
  });

  it('names a wrong base token', async () => {
    env['BITABLE_APP_TOKEN'] = 'basNoSuchBase000000000000';
    const faults = await faultsOf();
    expect(faults.map(({ check }) => check)).toContain('base');
  });

  it('names a link that opens a page and not the table, with the place in the configuration', async () => {
    env['TRY_ON_TABLE_ID'] = 'https://x.feishu.cn/base/basX00000000?table=ldxAbc123';
    const faults = await faultsOf();
    expect(faults[0]?.check).toBe('configuration');
    expect(faults[0]?.advice).toContain('tbl');
  });

  it('lists the tables of the base when the table is not in it', async () => {
    env['TRY_ON_TABLE_ID'] = 'tblNotThere0000';
    const faults = await faultsOf();
    expect(faults).toMatchObject([{ check: 'table', of: 'try-on' }]);
    expect(faults[0]?.advice).toContain('上身图');
  });

  it('a table of knowledge without texts; one with them is searched, and nothing is written to it', async () => {
    env['KNOWLEDGE_TABLE_ID'] = env['TRY_ON_TABLE_ID'] ?? '';
    const faults = await faultsOf('--no-probe');
    expect(faults).toMatchObject([{ check: 'columns', of: 'knowledge' }]);
    expect(faults[0]?.what).toContain('内容');
    const read = JSON.stringify(outside.sandbox.snapshot());
    outside.sandbox.restore(JSON.parse(read.replaceAll('"name":"产品说明"', '"name":" 内容"')));
    const ran = await inProcess(['doctor', '--json', '--no-probe'], env, directory);
    const { findings } = JSON.parse(ran.out) as { findings: Finding[] };
    expect(findings.filter((finding) => finding.of === 'knowledge')).toMatchObject([
      { check: 'table', level: 'ok' },
      { check: 'columns', level: 'ok' },
      { check: 'read', level: 'ok' },
    ]);
  });

  it('names a table of knowledge that is not in the base', async () => {
    env['KNOWLEDGE_TABLE_ID'] = 'tblNotThere0000';
    expect(await faultsOf('--no-probe')).toMatchObject([{ check: 'table', of: 'knowledge' }]);
  });

  it('an app that may only read: reads work, writes do not', async () => {
    outside.sandbox.platform.setAppRole('reader');
    const faults = await faultsOf();
    expect(faults.some(({ check }) => check === 'write')).toBe(true);
    expect(faults.find(({ check }) => check === 'write')?.advice).toContain('可管理');
    expect(faults.some(({ check }) => check === 'read')).toBe(false);
  });

  it('an app that is not in the base', async () => {
    outside.sandbox.platform.setAppRole('none');
    const faults = await faultsOf();
    expect(faults.find(({ check }) => check === 'base')?.advice).toContain('添加文档应用');
  });

  it('a missing scope, with the page that grants it', async () => {
    refuse('feishu.records.*', 400, { code: 99991672, msg: 'Access denied. One of the following scopes is required' });
    const faults = await faultsOf();
    expect(faults.find(({ check }) => check === 'read')?.advice).toContain('/auth?q=bitable:app');
  });

  it('a column that advanced permission hides, with what to do', async () => {
    outside.sandbox.platform.hideColumn(outside.table, '视频', true);
    const faults = await faultsOf();
    expect(faults).toMatchObject([{ check: 'columns', of: 'try-on' }]);
    expect(faults[0]?.what).toContain('视频');
    expect(faults[0]?.advice).toContain('高级权限');
  });

  it('a column of a type that the bot cannot write', async () => {
    const read = outside.sandbox.snapshot();
    const text = JSON.stringify(read).replace(/("name":"报错"[^}]*?"type":)1\b/g, '$120');
    outside.sandbox.restore(JSON.parse(text));
    const faults = await faultsOf();
    expect(faults.some(({ check, what }) => check === 'columns' && what.includes('公式'))).toBe(true);
  });

  it('the month’s calls used up', async () => {
    refuse('feishu.*', 400, { code: 99991403, msg: 'This month’s API call quota has been exceeded' });
    const faults = await faultsOf();
    expect(faults[0]?.advice).toContain('1st');
  });

  it('keys that vendors refuse, each by its variable', async () => {
    refuse('kie.credit', 200, { code: 401, msg: 'You do not have access permissions' });
    refuse('ark.*', 401, { error: { code: 'AuthenticationError', message: 'the API key is invalid' } });
    const faults = await faultsOf('--no-probe');
    expect(faults.map(({ of }) => of)).toEqual(['kie', 'ark']);
    expect(faults.map(({ advice }) => advice).join()).toMatch(/KIE_API_KEY.*ARK_API_KEY/s);
  });

  it('a vendor that cannot be reached', async () => {
    env['KIE_BASE_URL'] = 'http://127.0.0.1:9/kie';
    const faults = await faultsOf('--no-probe');
    expect(faults).toMatchObject([{ check: 'vendor', of: 'kie' }]);
  });

  it('a pushplus account that is not verified', async () => {
    refuse('pushplus.send', 200, { code: 905, msg: '账户未进行实名认证', data: null });
    const faults = await faultsOf();
    expect(faults).toMatchObject([{ check: 'pushplus' }]);
    expect(faults[0]?.advice).toContain('实名认证');
  });

  it('a bot that is not in the group', async () => {
    refuse('feishu.im.create', 400, { code: 230002, msg: 'Bot/User can NOT be out of the chat.' });
    const faults = await faultsOf();
    expect(faults).toMatchObject([{ check: 'message' }]);
    expect(faults[0]?.advice).toContain('群机器人');
  });

  it('a disk that is nearly full', async () => {
    env['GRIDLOOM__STORAGE__MIN_FREE'] = '900000GiB';
    expect(await faultsOf('--no-probe')).toMatchObject([{ check: 'disk' }]);
  });

  it('secrets that others may read', async () => {
    await writeFile(join(directory, '.env'), 'SB_CONFIRM=1\n');
    await chmod(join(directory, '.env'), 0o644);
    const faults = await faultsOf('--no-probe');
    expect(faults).toMatchObject([{ check: 'secrets' }]);
    expect(faults[0]?.advice).toContain('chmod 600');
  });

  it.each([
    ['in time', 0, []],
    ['an hour ahead', 3_600_000, ['clock']],
  ])('this machine’s clock %s', async (_how, aheadMs, expected) => {
    outside.sandbox.faults.add({
      endpoint: 'feishu.im.create',
      count: 1,
      action: {
        kind: 'answer',
        status: 200,
        body: { code: 0, data: { message_id: 'om_x' } },
        headers: { date: new Date(Date.now() - aheadMs).toUTCString() },
      },
    });
    expect((await faultsOf()).map(({ check }) => check)).toEqual(expected);
  });

  it('in sandbox mode it says so, and checks what is local', async () => {
    const ran = await inProcess(
      ['doctor'],
      { GRIDLOOM_MODE: 'sandbox', GRIDLOOM_DATA_DIR: join(directory, 'd') },
      directory,
    );
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('sandbox');
  });
});
