import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { AttemptRecord, ExecutionRecord } from '../../src/engine/ports/index.ts';
import {
  createAlerter,
  createCalendar,
  createMemoryFiles,
  createMetrics,
  createMonitorFiles,
  ledgerBy,
  type MetricsInputs,
} from '../../src/monitor/index.ts';
import { attemptRecord, chargeRecord, createKit, event, executionRecord, type Kit, timezone } from './kit.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const validate = ajv.compile(JSON.parse(readFileSync('webmon/metrics.schema.json', 'utf8')) as object);

interface Shape {
  updated_at: string;
  executions: { queued: number; running: number; held: number; today: Record<string, number> };
  vendors: Record<string, { calls: number; retries: number; succeeded: number; failed: number; errors: object }>;
  money: { today: { cny_micros: number; open_cny_micros: number }; month: { cny_micros: number; by_agent: object } };
  people: object[];
  days: { day: string; cny_micros: number }[];
}

function open(kit: Kit, files = createMemoryFiles()) {
  const alerter = createAlerter({ ...kit, channels: [], cooldownMs: 600_000 });
  const inputs = (): MetricsInputs => ({
    mode: 'sandbox',
    intervalMs: 30_000,
    workers: [{ id: 'w1', startedAt: kit.clock.nowMs(), lastTickAt: null }],
    feishu: { plan: 'basic', callsThisMonth: 900, monthlyBudget: 50_000, isConnected: true, lastEventAt: null },
    balances: [],
    alerter,
    waiting: { 厂商并发已满: 3 },
    isPaused: false,
    lagMs: 1.4,
    disk: { freeBytes: 5e9, minFreeBytes: 2e8 },
  });
  const metrics = createMetrics({
    ...kit,
    calendar: createCalendar(timezone),
    files,
    inputs,
    isConfirmPoint: (agent, stage) => agent === 'try-on' && stage === 'draw',
  });
  const shape = (): Shape => JSON.parse(files.read('metrics.json') ?? '{}') as Shape;
  return { metrics, files, shape, alerter };
}

/** One execution from its queueing to a settled attempt. */
async function run(kit: Kit, over: Partial<ExecutionRecord> = {}, attemptOver: Partial<AttemptRecord> = {}) {
  const execution = executionRecord(kit, over);
  const attempt = attemptRecord(kit, execution, attemptOver);
  const charge = chargeRecord(kit, attempt, { state: 'reserved' });
  const { provider, model, ordinal } = attempt;
  const data = { attemptId: attempt.id, node: 'draw', provider, model, ordinal };
  await kit.store.commit([
    { type: 'create-execution', record: execution },
    event(kit, 'execution-queued', {}, execution),
    event(kit, 'execution-started', {}, execution),
    { type: 'create-attempt', record: attempt, epoch: 0 },
    { type: 'create-charge', record: charge },
    event(kit, 'attempt-intended', data, execution),
  ]);
  return { execution, attempt, charge, data };
}

async function finish(kit: Kit, made: Awaited<ReturnType<typeof run>>) {
  const { execution, attempt, charge, data } = made;
  const settledAt = kit.clock.nowMs();
  await kit.store.commit([
    { type: 'put-attempt', record: { ...attempt, state: 'succeeded', settledAt }, expected: ['intended'] },
    { type: 'put-charge', record: { ...charge, state: 'settled', settledAt } },
    event(kit, 'attempt-settled', { ...data, state: 'succeeded' }, execution),
    { type: 'put-execution', record: { ...execution, status: 'succeeded', endedAt: settledAt } },
    event(kit, 'execution-ended', { status: 'succeeded' }, execution),
  ]);
}

describe('metrics', () => {
  it('fits its published schema, empty and with work', async () => {
    const kit = createKit();
    const { metrics, files } = open(kit);
    await metrics.flush();
    expect(validate(JSON.parse(files.read('metrics.json') ?? '')), JSON.stringify(validate.errors)).toBe(true);
    await finish(kit, await run(kit));
    await metrics.flush();
    expect(validate(JSON.parse(files.read('metrics.json') ?? '')), JSON.stringify(validate.errors)).toBe(true);
  });

  it('is refused by the schema when a key is missing (twin)', async () => {
    const kit = createKit();
    const { metrics, files } = open(kit);
    await metrics.flush();
    const whole = JSON.parse(files.read('metrics.json') ?? '') as Record<string, unknown>;
    expect(validate({ ...whole, money: undefined })).toBe(false);
  });

  it('is at most one second old while the worker lives', async () => {
    const kit = createKit();
    const { metrics, shape } = open(kit);
    metrics.start();
    for (let step = 0; step < 20; step += 1) {
      await kit.clock.advance(777);
      expect(kit.clock.nowMs() - Date.parse(shape().updated_at)).toBeLessThanOrEqual(1_000);
    }
    await metrics.stop();
  });

  it('follows an execution from queued over running to ended, with calls, latency and money', async () => {
    const kit = createKit();
    const { metrics, shape, files } = open(kit);
    await metrics.flush();
    const made = await run(kit);
    await metrics.flush();
    expect(shape().executions).toMatchObject({ queued: 0, running: 1 });
    expect(shape().money.today).toMatchObject({ cny_micros: 0, open_cny_micros: 142_000 });
    await kit.clock.advance(42_000);
    await finish(kit, made);
    await metrics.flush();
    expect(shape().executions).toMatchObject({ running: 0, today: { succeeded: 1 } });
    expect(shape().vendors['kie']).toMatchObject({ calls: 1, succeeded: 1, failed: 0, latency_ms: { p50: 42_000 } });
    expect(shape().money.today).toMatchObject({ cny_micros: 142_000, open_cny_micros: 0 });
    const list = JSON.parse(files.read('data/executions.json') ?? '') as { columns: string[]; executions: unknown[][] };
    expect(list.executions[0]?.[list.columns.indexOf('status')]).toBe('succeeded');
  });

  it('counts refusals and failures by kind, and retries', async () => {
    const kit = createKit();
    const { metrics, shape } = open(kit);
    await metrics.flush();
    const { execution, attempt, data } = await run(kit, {}, { ordinal: 2 });
    const failure = { kind: 'rate-limit', code: '429', message: 'slow' } as const;
    await kit.store.commit([
      { type: 'put-attempt', record: { ...attempt, state: 'refused', failure }, expected: ['intended'] },
      event(kit, 'attempt-refused', { ...data, failure }, execution),
    ]);
    await metrics.flush();
    expect(shape().vendors['kie']).toMatchObject({ calls: 1, retries: 1, failed: 1, errors: { 'rate-limit': 1 } });
  });

  it('counts a lost answer once, also when it is given up on later', async () => {
    const kit = createKit();
    const { metrics, shape } = open(kit);
    await metrics.flush();
    const { execution, attempt, data } = await run(kit);
    const failure = { kind: 'unknown-outcome', code: 'ECONNRESET', message: 'lost' } as const;
    await kit.store.commit([
      { type: 'put-attempt', record: { ...attempt, state: 'unknown', failure }, expected: ['intended'] },
      event(kit, 'attempt-unknown', { ...data, failure, handling: 'find' }, execution),
      event(kit, 'attempt-unknown', { ...data, failure, handling: 'retry', afterFind: true }, execution),
    ]);
    await metrics.flush();
    expect(shape().vendors['kie']).toMatchObject({ calls: 1, failed: 1, errors: { 'unknown-outcome': 1 } });
  });

  it('counts each event once over restarts, whether stopped or killed', async () => {
    const kit = createKit();
    const first = open(kit);
    await first.metrics.flush();
    await finish(kit, await run(kit));
    await first.metrics.flush();
    await first.metrics.stop();
    await finish(kit, await run(kit));
    const killed = open(kit);
    await killed.metrics.flush();
    await finish(kit, await run(kit));
    await killed.metrics.flush();
    const last = open(kit);
    await last.metrics.flush();
    expect(last.shape().executions.today).toMatchObject({ succeeded: 3 });
    expect(last.shape().vendors['kie']).toMatchObject({ calls: 3, succeeded: 3 });
    expect(last.shape().money.today.cny_micros).toBe(426_000);
  });

  it('P166 equals the ledger: several days, late settlements, corrections, a restart', async () => {
    const kit = createKit();
    const { metrics } = open(kit);
    await metrics.flush();
    const open1 = await run(kit);
    await finish(kit, await run(kit));
    await metrics.flush();
    await kit.clock.advance(3 * 86_400_000);
    await metrics.flush();
    await finish(kit, open1);
    await finish(kit, await run(kit));
    await metrics.flush();
    const late = open(kit);
    await metrics.stop();
    await late.metrics.flush();
    const charges = await kit.store.charges({});
    const months = ['2026-11', '2026-12'].map((month) => ledgerBy(charges, 'agent', month, timezone).total.cnyMicros);
    const shown = late.shape();
    expect(shown.days.reduce((sum, day) => sum + day.cny_micros, 0)).toBe((months[0] ?? 0) + (months[1] ?? 0));
    expect(shown.money.month.cny_micros).toBe(months[1]);
    expect(shown.days.find((day) => day.day === '2026-11-30')?.cny_micros).toBe(284_000);
  });

  it('reads decisions at confirmation points from what followed', async () => {
    const kit = createKit();
    const { metrics, shape } = open(kit);
    await metrics.flush();
    await finish(kit, await run(kit));
    await kit.clock.advance(60_000);
    await finish(kit, await run(kit, { generation: 2 }));
    await kit.clock.advance(30_000);
    const sourceRef = 'bitable:base/table/rec1#storyboard';
    await finish(kit, await run(kit, { sourceRef, labels: { agent: 'try-on', stage: 'storyboard' } }));
    await kit.clock.advance(30_000);
    // Storyboard is no confirmation point here: what follows it is no decision.
    await finish(
      kit,
      await run(kit, { sourceRef: 'bitable:base/table/rec1#video', labels: { agent: 'try-on', stage: 'video' } }),
    );
    await metrics.flush();
    expect(shape().people).toEqual([
      { agent: 'try-on', stage: 'draw', approved: 1, rejected: 1, mean_wait_ms: 45_000 },
    ]);
  });

  it('writes a file for an execution, without row content, prompts or names of staff', async () => {
    const kit = createKit();
    const { metrics, files } = open(kit);
    await metrics.flush();
    const made = await run(kit);
    await finish(kit, made);
    await metrics.flush();
    const detail = files.read(`data/executions/${made.execution.id}.json`) ?? '';
    expect(JSON.parse(detail)).toMatchObject({ status: 'succeeded', cost_cny_micros: 142_000 });
    for (const name of files.names()) expect(files.read(name)).not.toMatch(/真丝|silk|ou_lin|rec1/);
  });

  it('keeps a bounded number of execution files', async () => {
    const kit = createKit();
    const files = createMemoryFiles();
    for (let index = 0; index < 1_200; index += 1) await files.replace(`data/executions/old-${index}.json`, '{}');
    const { metrics } = open(kit, files);
    await finish(kit, await run(kit));
    await metrics.flush();
    await finish(kit, await run(kit));
    await metrics.flush();
    expect((await files.list('data/executions')).length).toBe(1_000);
  });

  it('survives a store that fails, and says so by going on', async () => {
    const kit = createKit();
    const { metrics, shape } = open({
      ...kit,
      store: { ...kit.store, events: () => Promise.reject(new Error('gone')) },
    });
    await expect(metrics.flush()).resolves.toBeUndefined();
    expect(shape()).toEqual({});
  });

  it('replaces its file on disk whole and readable by a web server', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gridloom-metrics-'));
    try {
      const files = createMonitorFiles(directory);
      const text = JSON.stringify({ filler: 'x'.repeat(200_000) });
      const writing = { isDone: false };
      const reader = (async () => {
        let reads = 0;
        while (!writing.isDone) {
          const seen = await readFile(join(directory, 'metrics.json'), 'utf8').catch(() => text);
          expect(seen).toHaveLength(text.length);
          reads += 1;
        }
        return reads;
      })();
      for (let index = 0; index < 50; index += 1) await files.replace('metrics.json', text);
      writing.isDone = true;
      expect(await reader).toBeGreaterThan(0);
      expect((await stat(join(directory, 'metrics.json'))).mode & 0o777).toBe(0o644);
      expect(await readdir(directory)).toEqual(['metrics.json']);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
