import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../src/app/index.ts';
import type { FailpointName } from '../../src/kernel/index.ts';
import { noLatencies } from '../../src/sandbox/index.ts';
import { clock, useScene } from './crew.ts';
import { expectEachBoughtOnce, expectLedgerEqualsBill } from '../support/books.ts';
import { drive, submitRows, tellRows, words } from './rows.ts';

/** One worker dies at a named place; another, with a disk of its own, goes on where it stood. */
const scene = useScene({ ...noLatencies, imageTaskMs: 150, videoTaskMs: 250 });

async function dieAt(name: FailpointName): Promise<readonly string[]> {
  const victim = await scene.crew.start('victim', { GRIDLOOM_FAILPOINT: name });
  const rows = await submitRows(scene.outside, 1);
  const isDead = (): Promise<boolean> => Promise.resolve(victim.process.signalCode !== null);
  expect(await waitUntil(clock, isDead, 20, 40_000), victim.output()).toBe(true);
  return rows;
}

describe('a worker killed at', () => {
  it.each<FailpointName>([
    'intake:after-clear',
    'attempt:after-intent',
    'attempt:after-handle',
    'attempt:after-settle',
    'collect:after-download',
    'outbox:after-write',
  ])(
    '%s leaves its work to another with another disk',
    async (name) => {
      const rows = await dieAt(name);
      const heir = await scene.crew.start('heir');
      await drive(scene.outside, rows, [], 40_000);
      const [word] = words(scene.outside, rows);
      const mayBeInDoubt = name === 'attempt:after-intent';
      expect(
        mayBeInDoubt ? ['待确认', '待核对'] : ['待确认'],
        `${tellRows(scene.outside, rows)}\n${heir.output()}`,
      ).toContain(word);
      await expectEachBoughtOnce(scene.outside, scene.crew.store);
      await expectLedgerEqualsBill(scene.outside, scene.crew.store);
    },
    120_000,
  );
});

it('a file that lay on the dead worker’s disk alone, forgotten by its vendor: the row says so, nothing is bought again', async () => {
  const rows = await dieAt('outbox:before-upload');
  scene.outside.sandbox.faults.add({
    endpoint: 'files.download',
    count: 10_000,
    action: { kind: 'answer', status: 404, body: { code: 'NoSuchKey' } },
  });
  await scene.crew.start('heir');
  await drive(scene.outside, rows, [], 40_000);
  const [row = ''] = rows;
  expect(words(scene.outside, rows), tellRows(scene.outside, rows)).toEqual(['失败']);
  expect(scene.outside.sandbox.table.text(scene.outside.table, row, '报错')).toContain('结果文件已不在本机');
  const billed = scene.outside.sandbox.books.billTotals()['kie'];
  scene.outside.sandbox.faults.clear();
  // The vendor has it again: 提交 fetches it, and pays for no picture.
  scene.outside.sandbox.table.setCells(scene.outside.table, row, { 操作: '提交' });
  const isThere = (): Promise<boolean> => Promise.resolve(words(scene.outside, rows)[0] === '待确认');
  expect(await waitUntil(clock, isThere, 50, 30_000), tellRows(scene.outside, rows)).toBe(true);
  expect(scene.outside.sandbox.books.billTotals()['kie']).toEqual(billed);
}, 120_000);
