import { describe, expect, it } from 'vitest';
import {
  adviceOf,
  type BudgetStatus,
  checkBase,
  checkBot,
  checkClock,
  checkColumnType,
  checkCredentials,
  checkLongConnection,
  checkMessage,
  checkProxy,
  checkQuota,
  checkRead,
  checkSubscription,
  checkTable,
  type Diagnosis,
  explainMissingColumns,
  probeWrite,
  type WakeSource,
  type WriteProbe,
} from '../../src/feishu/index.ts';
import { createVirtualClock } from '../../src/kernel/index.ts';
import { sandboxCredentials } from '../../src/sandbox/index.ts';
import { createBench, done, json, refusal, runVirtually } from './support/fake-platform.ts';
import { sandboxWorld } from './support/sandbox-world.ts';

const place = { appId: sandboxCredentials.appId, baseUrl: 'https://open.feishu.cn' };
const holding = (text: string): unknown => expect.stringContaining(text);
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const levels = (found: readonly Diagnosis[]) => found.map((diagnosis) => `${diagnosis.check} ${diagnosis.level}`);

async function probe(overrides: Partial<WriteProbe> = {}) {
  const world = await sandboxWorld();
  const fields = await world.run(world.client.listFields(world.table));
  const fieldId = fields.find((field) => field.name === '上身图')?.fieldId ?? '';
  const run = (more: Partial<WriteProbe> = {}) =>
    runVirtually(
      world.clock,
      probeWrite({
        client: world.client,
        clock: world.clock,
        table: world.table,
        place,
        textColumn: '产品说明',
        attachment: { column: '上身图', fieldId },
        hasAdvancedPermissions: false,
        ...overrides,
        ...more,
      }),
    );
  return { ...world, probe: run };
}

describe('the write probe of the doctor', () => {
  it('writes, reads back, searches, uploads, downloads, and leaves nothing behind', async () => {
    const world = await probe();
    expect(levels(await world.probe())).toEqual(['write ok', 'read ok', 'upload ok', 'download ok', 'cleanup ok']);
    expect(await world.run(world.client.searchRecords(world.table, {}))).toEqual([]);
  });

  it('P019 finds that reads work and writes do not, before anything is paid for, and names the menu path', async () => {
    const world = await probe();
    world.sandbox.platform.setAppRole('reader');
    expect((await runVirtually(world.clock, checkRead(world.client, world.table, '操作', place))).ok).toBe(true);
    const [found, ...more] = await world.probe();
    expect(found).toMatchObject({ check: 'write', level: 'fault' });
    expect(found?.what).toContain('91403');
    expect(found?.advice).toContain('更多 → 添加文档应用');
    expect(more).toEqual([]);
  });

  it('finds advanced permissions under which the app sees nothing, and still takes its row away', async () => {
    const world = await probe({ hasAdvancedPermissions: true });
    world.sandbox.platform.setAppRole('editor');
    world.sandbox.platform.setAdvancedPermission(true);
    const found = await world.probe({ hasAdvancedPermissions: true });
    expect(found.find((diagnosis) => !diagnosis.ok)).toMatchObject({ check: 'advanced-permission', level: 'fault' });
    expect(found.at(-1)).toMatchObject({ check: 'cleanup', level: 'ok' });
    world.sandbox.platform.setAppRole('manager');
    expect(levels(await world.probe({ hasAdvancedPermissions: true })).every((level) => level.endsWith('ok'))).toBe(
      true,
    );
  });

  it('P009 finds a column that says success and keeps its old value', async () => {
    const world = await probe();
    const { client } = world;
    const deaf = { ...client, updateRecords: () => Promise.resolve({ ok: true as const, value: undefined }) };
    const [found] = await world.probe({ client: deaf });
    expect(found).toMatchObject({
      check: 'write',
      level: 'fault',
      what: holding('written with success'),
    });
  });

  it('says which row to delete by hand when it cannot do so itself', async () => {
    const world = await probe();
    const { client } = world;
    const clinging: WriteProbe['client'] = {
      ...client,
      deleteRecord: async (_table, recordId) =>
        client.deleteRecord({ appToken: 'basElsewhere', tableId: 'tblX' }, recordId),
    };
    const found = await world.probe({ client: clinging });
    expect(found.at(-1)).toMatchObject({
      check: 'cleanup',
      level: 'fault',
      advice: matching(/自检.*rec/),
    });
  });
});

describe('the checks of the doctor', () => {
  it('go through on a sound base', async () => {
    const { clock, client, table } = await sandboxWorld();
    const run = <T>(work: Promise<T>) => runVirtually(clock, work);
    expect(await run(checkCredentials(client, place))).toMatchObject({ ok: true });
    expect(await run(checkBase(client, table.appToken, place))).toMatchObject({
      diagnosis: { ok: true },
      base: { appToken: table.appToken, hasAdvancedPermissions: false },
    });
    const { diagnosis, fields } = await run(checkTable(client, table, place));
    expect(diagnosis).toMatchObject({ ok: true, what: holding('试穿') });
    expect(fields?.map((field) => field.name)).toContain('操作');
    expect(await run(checkRead(client, table, '操作', place))).toMatchObject({ level: 'ok' });
    expect(await run(checkSubscription(client, table.appToken, place))).toMatchObject({ level: 'ok' });
    expect(await run(checkMessage(client, 'oc_group', { text: 'x', uuid: 'u' }, place))).toMatchObject({ level: 'ok' });
  });

  it('name a wrong link, a wrong table with those that are there, and an app that is not in the base', async () => {
    const { clock, client, table, sandbox } = await sandboxWorld();
    const run = <T>(work: Promise<T>) => runVirtually(clock, work);
    const wrong = await run(checkBase(client, 'https://x.feishu.cn/docx/Abc123456', place));
    expect(wrong.diagnosis).toMatchObject({ level: 'fault', what: holding('leads to no base') });
    const missing = await run(checkTable(client, { ...table, tableId: 'tblOther' }, place));
    expect(missing.diagnosis).toMatchObject({ level: 'fault', advice: holding('试穿 (tblTryOn)') });
    sandbox.platform.setAppRole('none');
    const outside = await run(checkBase(client, table.appToken, place));
    expect(outside.diagnosis).toMatchObject({ level: 'fault', advice: holding('添加文档应用') });
  });

  it('name a wrong secret with the page where the right one stands', async () => {
    const bench = createBench(() => refusal(10014));
    const found = await bench.run(checkCredentials(bench.client, place));
    expect(found).toMatchObject({ level: 'fault', advice: holding('/baseinfo') });
  });

  it('tell the bot’s own id, and a missing bot ability as a hint', async () => {
    const answers = [
      json({ code: 0, msg: 'ok', bot: { open_id: 'ou_bot', app_name: '织表' } }),
      json({ code: 0, msg: 'ok', bot: {} }),
    ];
    const bench = createBench((request) => (request.path.endsWith('/bot/v3/info') ? answers.shift() : undefined));
    expect(await bench.run(checkBot(bench.client, place))).toMatchObject({
      diagnosis: { level: 'ok' },
      openId: 'ou_bot',
    });
    const without = await bench.run(checkBot(bench.client, place));
    expect(without.diagnosis).toMatchObject({ level: 'hint', advice: holding('机器人') });
    expect(without.openId).toBeUndefined();
  });

  it('P049 subscribe a base that was not, and take a refusal for a hint: polling works without', async () => {
    const asked: string[] = [];
    const bench = createBench((request) => {
      if (request.path.endsWith('/internal')) return undefined;
      asked.push(request.path.split('/').at(-1) ?? '');
      return request.path.endsWith('/get_subscribe') ? done({ is_subscribe: false }) : refusal(1069603, 403);
    });
    const found = await bench.run(checkSubscription(bench.client, 'bascn', place));
    expect(found).toMatchObject({ level: 'hint', ok: true, advice: holding('可管理') });
    expect(asked).toEqual(['get_subscribe', 'subscribe']);
  });

  it('P004 notice a filter that is not applied', async () => {
    const items = [{ record_id: 'rec1', fields: {} }];
    const bench = createBench((request) =>
      request.path.endsWith('/search') ? done({ items, has_more: false }) : undefined,
    );
    const found = await bench.run(checkRead(bench.client, { appToken: 'a', tableId: 't' }, '操作', place));
    expect(found).toMatchObject({ level: 'hint', what: holding('1 rows without a word') });
  });

  it('P002 refuse a formula as 操作, and a stage column as 状态 (P009)', () => {
    const field = (type: number) => ({ fieldId: 'fld', name: 'x', type });
    expect(checkColumnType('操作', field(20))).toMatchObject({ level: 'fault', what: '操作 is a formula column' });
    expect(checkColumnType('状态', field(24)).ok).toBe(false);
    expect(checkColumnType('操作', field(3)).ok).toBe(true);
  });

  it('say of a missing column that it may be hidden, where advanced permissions are on', () => {
    expect(explainMissingColumns([], true).ok).toBe(true);
    expect(explainMissingColumns(['状态'], true).advice).toContain('hidden from the app');
    expect(explainMissingColumns(['状态'], false).advice).not.toContain('hidden');
  });

  it('find a proxy in the way, and Clash’s fake addresses', () => {
    const host = 'open.feishu.cn';
    expect(checkProxy({ host, addresses: ['198.18.0.17'], proxies: {} })).toMatchObject({
      level: 'fault',
      advice: holding('fake-ip-filter'),
    });
    expect(checkProxy({ host, addresses: [], proxies: {} }).level).toBe('fault');
    expect(checkProxy({ host, addresses: ['10.0.0.3'], proxies: {} }).level).toBe('hint');
    expect(checkProxy({ host, addresses: ['123.4.5.6'], proxies: { HTTPS_PROXY: 'http://p' } }).level).toBe('hint');
    expect(checkProxy({ host, addresses: ['123.4.5.6'], proxies: { HTTPS_PROXY: '' } }).level).toBe('ok');
    expect(checkProxy({ host: '127.0.0.1', addresses: ['127.0.0.1'], proxies: {} }).level).toBe('ok');
  });

  it('P094 find a clock that is off, from the date of the platform’s answers', async () => {
    for (const [offMs, level] of [
      [0, 'ok'],
      [120_000, 'hint'],
      [-3_600_000, 'fault'],
    ] as const) {
      const bench = createBench((request) => {
        const date = new Date(bench.clock.nowMs() + offMs).toUTCString();
        return request.path.endsWith('/internal')
          ? json({ code: 0, tenant_access_token: 't-clock-token', expire: 7200 }, 200, { date })
          : undefined;
      });
      expect(checkClock(bench.client).level).toBe('hint');
      await bench.run(bench.client.checkCredentials());
      expect(checkClock(bench.client).level).toBe(level);
    }
  });

  it('warn of a month that will not suffice, and of one that is over', () => {
    const status: BudgetStatus = {
      month: '2026-06',
      used: 10,
      usedToday: 1,
      byEndpoint: {},
      budget: 100,
      forecast: 90,
      level: 'ok',
    };
    expect(checkQuota(status).level).toBe('ok');
    expect(checkQuota({ ...status, forecast: 101 }).level).toBe('hint');
    expect(checkQuota({ ...status, level: 'warning' }).level).toBe('hint');
    expect(checkQuota({ ...status, level: 'reached' }).level).toBe('fault');
    expect(checkQuota({ ...status, level: 'gone' }).level).toBe('fault');
  });

  it('wait for the long connection, but not for ever', async () => {
    const clock = createVirtualClock();
    const source = (aliveAtMs: number): WakeSource => ({
      start: () => Promise.resolve(),
      isAlive: () => clock.monotonicMs() >= aliveAtMs,
      lastEventAtMs: () => undefined,
      stop: () => Promise.resolve(),
    });
    expect((await runVirtually(clock, checkLongConnection(source(2_000), clock))).level).toBe('ok');
    const never = await runVirtually(clock, checkLongConnection(source(Number.POSITIVE_INFINITY), clock, 5_000));
    expect(never).toMatchObject({ level: 'hint', advice: holding('长连接') });
  });

  it('have advice for every class of failure, and a link that ticks the scopes for a missing one', () => {
    const failure = { code: 99991672, httpStatus: 400, message: 'x', outcome: 'refused', class: 'permission' } as const;
    expect(adviceOf(failure, place)).toContain(
      `https://open.feishu.cn/app/${place.appId}/auth?q=bitable:app,docs:document.media:upload`,
    );
    for (const kind of ['retry', 'throttled', 'conflict', 'gone', 'schema', 'quota', 'config', 'invalid'] as const) {
      expect(adviceOf({ ...failure, code: 1, class: kind }, place).length).toBeGreaterThan(10);
    }
  });
});
