import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import { createSystemClock } from '../../src/kernel/index.ts';
import { createPlainPainter } from '../../src/sandbox/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';
import { gridloom, inProcess, type Ran } from './kit.ts';

/** Workflows from the command line: alone, and beside a worker; and the operator's word on what runs. */
const clock = createSystemClock();
let outside: Outside;
let worker: WorkerProcess | undefined;
let env: Readonly<Record<string, string>>;
beforeEach(async () => {
  outside = await openOutside();
  ({ env } = outside);
});
afterEach(async () => {
  await worker?.kill();
  worker = undefined;
  await outside.close();
});

const paidCalls = (): number => outside.sandbox.books.calls()['kie.createTask'] ?? 0;

async function portraitInput(): Promise<string> {
  await writeFile(join(outside.dataDir, 'coat.png'), await createPlainPainter().draw('<svg/>', 64));
  const file = join(outside.dataDir, 'input.yaml');
  await writeFile(file, 'product_images:\n  - file: coat.png\nproduct_notes: 羊毛大衣\n');
  return file;
}

async function startWorker(): Promise<void> {
  worker = startWorkerProcess(env);
  const isUp = await waitUntil(clock, () => Promise.resolve(worker?.output().includes('live on') === true), 50, 20_000);
  expect(isUp, worker.output()).toBe(true);
}

const json = (ran: Ran): Record<string, unknown> => {
  expect(ran.out, ran.err).not.toBe('');
  return JSON.parse(ran.out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
};

describe('run', () => {
  it('--dry-run shows the plan, the most paid calls and the cost, and calls nobody', async () => {
    const ran = await inProcess(['run', 'try-on-portrait', '--dry-run', '--input', await portraitInput()], env);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('flowchart TD');
    expect(ran.out).toMatch(/at most \d+ paid calls, \d+\.\d{4} CNY; nobody was called/);
    const plan = json(await inProcess(['run', 'try-on-portrait', '--dry-run', '--json'], env));
    expect(plan['mostPaidCalls']).toBeGreaterThan(1);
    expect(Number(plan['estimated_cny'])).toBeGreaterThan(0);
    expect(outside.sandbox.books.calls()).toEqual({});
  });

  it('alone: files become artifacts, the result is printed and copied out, and an equal run buys nothing', async () => {
    const args = ['run', 'try-on-portrait', '--input', await portraitInput(), '--json'];
    const out = join(outside.dataDir, 'out');
    const first = await gridloom([...args, '--out', out], env);
    expect(first.code, first.err).toBe(0);
    const report = json(first);
    expect(report['status']).toBe('succeeded');
    expect(Number(report['cost_cny'])).toBeGreaterThan(0);
    const files = report['files'] as string[];
    expect(files).toHaveLength(1);
    expect((await readFile(files[0] ?? '')).byteLength).toBeGreaterThan(100);
    expect(paidCalls()).toBe(1);
    const second = await inProcess(args, env);
    expect(json(second)['status']).toBe('succeeded');
    expect(paidCalls()).toBe(1);
    expect((await inProcess([...args, '--anew'], env)).code).toBe(0);
    expect(paidCalls()).toBe(2);
  });

  it('a file that is not there, an input that is no object: told before anything runs', async () => {
    const file = join(outside.dataDir, 'input.json');
    await writeFile(file, '{"product_images": [{"file": "nowhere.png"}]}');
    const missing = await inProcess(['run', 'try-on-portrait', '--input', file], env);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('nowhere.png')]);
    for (const [text, words] of [
      ['- a\n- b\n', 'object'],
      ['{"a": ', 'input.json'],
    ] as const) {
      await writeFile(file, text);
      const ran = await inProcess(['run', 'try-on-portrait', '--input', file], env);
      expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(words)]);
    }
    await writeFile(file, '{}');
    const refused = await inProcess(['run', 'try-on-portrait', '--input', file], env);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('product_images');
    expect(outside.sandbox.books.calls()).toEqual({});
  });

  it('Ctrl-C cancels it, at the vendor too where it can, and what was bought stays booked', async () => {
    outside.sandbox.faults.add({
      endpoint: 'kie.recordInfo',
      count: Number.POSITIVE_INFINITY,
      action: { kind: 'answer', status: 503, body: {} },
    });
    const args = ['run', 'try-on-portrait', '--input', await portraitInput(), '--json'];
    const running = startWorkerProcess(env, args);
    await waitUntil(clock, () => Promise.resolve(paidCalls() === 1), 50, 15_000);
    running.process.kill('SIGINT');
    expect((await running.ended).code, running.output()).toBe(1);
    expect(running.output()).toContain('canceling');
    expect(running.output()).toContain('"status":"canceled"');
    const charged = json(await inProcess(['ledger', '--json'], env)) as { total: { calls: number } };
    expect(charged.total.calls).toBeGreaterThanOrEqual(2);
  });
});

describe('beside a running worker', () => {
  it('run goes through the worker; a second worker exits 75; pause holds paid calls until resume', async () => {
    const args = ['run', 'try-on-portrait', '--input', await portraitInput(), '--json'];
    await startWorker();
    const second = await gridloom(['start', '--port', '0'], env);
    expect(second.code).toBe(75);
    expect(second.err).toContain('another worker holds');
    const paused = await inProcess(['pause'], env);
    expect(paused).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^paused: no new paid call.*resume"\n$/) as unknown,
    });
    const running = inProcess(args, env);
    const isRunning = await waitUntil(
      clock,
      async () => (await inProcess(['executions', '--json', '--status', 'running'], env)).out !== '',
      100,
      8_000,
    );
    expect(isRunning).toBe(true);
    expect(paidCalls()).toBe(0);
    const resumed = await inProcess(['resume', '--json'], env);
    expect(json(resumed)).toEqual({ ok: true });
    const ran = await running;
    expect(ran.code, ran.err).toBe(0);
    expect(json(ran)['status']).toBe('succeeded');
    expect(paidCalls()).toBe(1);
    const id = String(json(ran)['execution']);
    const shown = json(await inProcess(['show', `${id}@tag`, '--json'], env));
    expect(shown['attempts']).toHaveLength(2);
    const again = await inProcess(['rerun', id, '--from', 'label', '--json'], env);
    expect(again.code, again.err).toBe(0);
    expect((await inProcess(['rerun', id, '--from', 'nowhere'], env)).err).toContain('it has: create');
    expect(json(await inProcess(['ledger', '--json'], env))).toMatchObject({ by: 'agent' });
    expect((await inProcess(['events'], env)).out.split('\n').length).toBeGreaterThan(20);
  });

  it('resolve: a call whose answer was lost waits for a word, then is bought again or taken up, never both', async () => {
    const args = ['run', 'try-on-portrait', '--input', await portraitInput(), '--json'];
    outside.sandbox.faults.add({ endpoint: 'kie.createTask', count: 1, action: { kind: 'drop-after' } });
    await startWorker();
    const held = await inProcess(args, env);
    expect(held.code).toBe(1);
    expect(json(held)['status']).toBe('held');
    expect(paidCalls()).toBe(1);
    const id = String(json(held)['execution']);
    const { attempts } = json(await inProcess(['show', id, '--json'], env)) as {
      attempts: { id: string; state: string }[];
    };
    const doubtful = attempts.find((attempt) => attempt.state === 'unknown')?.id ?? '';
    const freed = await inProcess(['resolve', doubtful, '--not-accepted'], env);
    expect(freed.code, freed.err).toBe(0);
    expect(freed.out).toMatch(new RegExp(`^attempt ${doubtful} counts as not accepted.*may buy again\\)\n$`));
    const isOver = await waitUntil(
      clock,
      async () => {
        const shown = json(await inProcess(['show', id, '--json'], env)) as { execution: { status: string } };
        return shown.execution.status === 'succeeded';
      },
      150,
      10_000,
    );
    expect(isOver).toBe(true);
    expect(paidCalls()).toBe(2);
    const again = await inProcess(['resolve', doubtful, '--not-accepted'], env);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('only a call in doubt') as unknown });
    const tooLate = await inProcess(['cancel', id], env);
    expect(tooLate).toMatchObject({ code: 0, out: expect.stringContaining('had ended before (succeeded)') as unknown });
    expect((await inProcess(['resume'], env)).out).toMatch(/^resumed: /);
  });
});

describe('events --follow', () => {
  it('tells what the worker beside it appends, from a number on, until it is interrupted', async () => {
    await startWorker();
    const seen = (await inProcess(['events'], env)).out.trim().split('\n').length;
    const follower = startWorkerProcess(env, ['events', '--after', String(seen), '--follow']);
    await inProcess(['run', 'try-on-portrait', '--input', await portraitInput(), '--json'], env);
    const isTold = await waitUntil(
      clock,
      () => Promise.resolve(follower.output().includes('execution-ended')),
      50,
      8_000,
    );
    expect(isTold, follower.output()).toBe(true);
    follower.process.kill('SIGINT');
    expect((await follower.ended).code).toBe(0);
    const lines = follower.output().trim().split('\n');
    const last = lines.pop();
    const numbers = lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(numbers).toEqual(numbers.map((_number, index) => seen + 1 + index));
    expect(last).toContain(`--after ${numbers.at(-1)} --follow`);
  });
});

describe('serve', () => {
  it('shows the page on loopback to this machine alone, and ends on a signal', async () => {
    const server = startWorkerProcess(env, ['serve', '--port', '0']);
    worker = server;
    await waitUntil(clock, () => Promise.resolve(server.output().includes('http://')), 50, 15_000);
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(server.output())?.[0] ?? '';
    const page = await fetch(`${origin}/`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('data-served="local"');
    expect((await fetch(`${origin}/`, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect((await fetch(`${origin}/../.env`)).status).toBe(404);
    await server.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    expect(server.output()).toContain('stopped; the worker is untouched');
  });
});
