import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { type LoopbackServer, sandboxTableId, serveLoopback, waitUntil } from '../../src/app/index.ts';
import { createSocketHandler, noLatencies, type Sandbox } from '../../src/sandbox/index.ts';
import { expectEachBoughtOnce, expectLedgerEqualsBill } from '../support/books.ts';
import type { Outside } from '../support/outside.ts';
import { clock, type Member, useScene } from './crew.ts';
import { submitRows, tellRows, words } from './rows.ts';

const scene = useScene({ ...noLatencies, imageTaskMs: 1_500, videoTaskMs: 500 });
const secondBase = 'basSecondBaseOfTheTeam01';
const secondTable = sandboxTableId('content');
const doors: LoopbackServer[] = [];
afterEach(async () => {
  for (const door of doors.splice(0)) await door.close();
});

it('several bases over several workers: spread, one writer each, and taken over with all that goes on in them', async () => {
  moveTable(scene.outside.sandbox, secondTable);
  const writes: Write[] = [];
  const crew = [await startAt('one', writes), await startAt('two', writes), await startAt('three', writes)];
  await untilTrue(async () => (await holders()).size === 2);
  const at = { ...scene.outside, table: secondTable };
  const first = [await submitRows(scene.outside, 3), submitContent(at, 3)] as const;
  await untilTrue(() => Promise.resolve(new Set(writes.map(({ base }) => base)).size === 2));

  const lost = scene.outside.sandbox.appToken;
  const owner = (await holders()).get(lost);
  const victim = crew.find(({ member }) => member.owner === owner) ?? expect.unreachable();
  await victim.member.kill('SIGKILL');
  await untilTrue(async () => ![undefined, victim.member.owner].includes((await holders()).get(lost)));
  // Typed while nobody may have held the base.
  const later = [await submitRows(scene.outside, 2), submitContent(at, 2)] as const;
  const portraits = [...first[0], ...later[0]];
  const texts = [...first[1], ...later[1]];
  const rest = ['待确认', '完成', '待核对'];
  await waitUntil(
    clock,
    () =>
      Promise.resolve([...words(scene.outside, portraits), ...words(at, texts)].every((word) => rest.includes(word))),
    50,
    60_000,
  );
  const told = `${tellRows(scene.outside, portraits)}\n${tellRows(at, texts)}\n${JSON.stringify(turnsOf(writes))}`;
  // Whether the last request of the killed one arrived, nobody can say.
  expect(
    [...words(scene.outside, portraits), ...words(at, texts)].filter((word) => !rest.includes(word)),
    told,
  ).toEqual([]);
  expect(words(scene.outside, later[0]), told).toEqual(['待确认', '待确认']);
  expect(words(at, later[1]), told).toEqual(['完成', '完成']);
  // A base changes hands once: from the dead to its heir. The other keeps its writer.
  for (const [base, turns] of turnsOf(writes)) {
    expect(turns, told).toHaveLength(base === lost ? 2 : 1);
    expect(new Set(turns).size).toBe(turns.length);
  }
  await expectEachBoughtOnce(scene.outside, scene.crew.store);
  await expectLedgerEqualsBill(scene.outside, scene.crew.store);
}, 180_000);

interface Write {
  readonly worker: string;
  readonly base: string;
}

/** A worker with a way of its own to the platform, where it can be told from the others. */
async function startAt(name: string, writes: Write[]): Promise<{ readonly name: string; readonly member: Member }> {
  const answer = createSocketHandler(scene.outside.sandbox);
  const door = await serveLoopback((request, bindings) => {
    const base = /apps\/(\w+)\/tables\/\w+\/records\/batch_update/.exec(request.url)?.[1];
    if (base !== undefined) writes.push({ worker: name, base });
    return answer(request, bindings);
  }, 0);
  doors.push(door);
  const member = await scene.crew.start(name, {
    FEISHU_BASE_URL: `${door.origin}/feishu`,
    CONTENT_TABLE_ID: `${secondBase}/${secondTable}`,
  });
  return { name, member };
}

/** Who wrote to each base, one after the other. */
function turnsOf(writes: readonly Write[]): ReadonlyMap<string, readonly string[]> {
  const turns = new Map<string, string[]>();
  for (const { base, worker } of writes) {
    const before = turns.get(base) ?? [];
    if (before.at(-1) !== worker) turns.set(base, [...before, worker]);
  }
  return turns;
}

/** Base → the worker whose session holds its lock; the classes are those of `presence.ts`. */
async function holders(): Promise<ReadonlyMap<string, string>> {
  const names = `VALUES ('${scene.outside.sandbox.appToken}'), ('${secondBase}')`;
  const rows = await scene.crew.query<{ base: string; owner: string }>(`
    SELECT base, beats.owner FROM (${names}) AS bases (base)
    JOIN pg_locks AS held ON held.locktype = 'advisory' AND held.classid = 4672590 AND held.granted
      AND held.objid::bigint = (hashtext(base)::bigint & 4294967295)
    JOIN pg_locks AS alive ON alive.pid = held.pid AND alive.locktype = 'advisory' AND alive.classid = 4672599
    JOIN (SELECT key AS owner FROM documents WHERE collection = 'scale.beat') AS beats
      ON alive.objid::bigint = (hashtext(beats.owner)::bigint & 4294967295)`);
  return new Map(rows.map(({ base, owner }) => [base, owner]));
}

function submitContent({ sandbox }: Outside, count: number): readonly string[] {
  return Array.from({ length: count }, (_unused, index) =>
    sandbox.table.createRow(secondTable, { 需求: `写第 ${index + 1} 篇短文`, 操作: '提交' }),
  );
}

const stateSchema = z.looseObject({
  bases: z.record(z.string(), z.looseObject({ tables: z.array(z.looseObject({ tableId: z.string() })) })),
});

/** Gives a table a base of its own. */
function moveTable(sandbox: Sandbox, tableId: string): void {
  const state = stateSchema.parse(sandbox.snapshot());
  const home = state.bases[sandbox.appToken];
  if (home === undefined) throw new Error('the sandbox has no base');
  const moved = home.tables.filter((table) => table.tableId === tableId);
  const bases = {
    [sandbox.appToken]: { ...home, tables: home.tables.filter((table) => table.tableId !== tableId) },
    [secondBase]: { ...home, appToken: secondBase, name: '第二个多维表格', tables: moved },
  };
  sandbox.restore({ ...state, bases });
}

async function untilTrue(look: () => Promise<boolean>): Promise<void> {
  if (!(await waitUntil(clock, look, 20, 45_000))) throw new Error(`not within 45 s: ${look.toString()}`);
}
