import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type Breaker, openBreaker, rowCost } from './kit.ts';

// The real program on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let breaker: Breaker;
beforeAll(async () => {
  breaker = await openBreaker();
});
afterAll(async () => {
  await breaker.close();
});

it('rerun --from of a row’s execution buys that node once more, and its result stands in the row', async () => {
  const recordId = await breaker.row();
  breaker.start();
  await breaker.until(recordId, '待确认');
  const [first] = breaker.text(recordId, '执行编号').split('@');
  const before = breaker.files(recordId, '上身图').map((file) => file['file_token']);
  const rerun = await breaker.command('rerun', first ?? '', '--from', 'draw');
  expect(rerun.code, rerun.output).toBe(0);
  const id = rerun.output.trim();
  await breaker.wait(
    'the rerun in the row',
    () => breaker.text(recordId, '状态') === '待确认' && breaker.text(recordId, '执行编号').startsWith(`${id}@`),
  );
  expect(breaker.outside.sandbox.books.acceptedTasks()).toHaveLength(2);
  expect(breaker.files(recordId, '上身图').map((file) => file['file_token'])[0]).not.toBe(before[0]);
  expect(breaker.text(recordId, '提示')).toContain(`管理员重跑了这一环节（执行 ${id}）`);
  expect(Number(breaker.text(recordId, '成本(元)'))).toBeCloseTo(await rowCost(breaker, recordId), 3);
});

it('rerun of an execution that has not ended is refused: it would buy what is under way once more', async () => {
  const { books, faults } = breaker.outside.sandbox;
  const bought = books.acceptedTasks().length;
  faults.add({ endpoint: 'kie.createTask', action: { kind: 'fate', fate: { durationMs: 120_000 } } });
  await breaker.row();
  await breaker.wait('the task', () => books.acceptedTasks().length === bought + 1);
  const running = await breaker.command('executions', '--status', 'running', '--json');
  const { id } = z.object({ id: z.string() }).parse(JSON.parse(running.output.trim()));
  const rerun = await breaker.command('rerun', id);
  expect(rerun.code).toBe(1);
  expect(rerun.output).toContain('has not ended (running)');
  expect(books.acceptedTasks()).toHaveLength(bought + 1);
});
