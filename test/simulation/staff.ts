import { sandboxTableId } from '../../src/app/index.ts';
import { type JsonObject, type Random, randomInt } from '../../src/kernel/index.ts';
import { createPlainPainter } from '../../src/sandbox/index.ts';
import { people, type SimWorld } from './world.ts';

const table = sandboxTableId('try-on');

/** What a person did to 操作, in order of time; the checks hold the worker's answers against it. */
export interface TypedWord {
  readonly recordId: string;
  readonly word: string;
  readonly atMs: number;
}

export interface Staff {
  readonly rows: () => readonly string[];
  readonly typed: readonly TypedWord[];
  /** Rows that people deleted. */
  readonly deleted: ReadonlySet<string>;
  /** Row and artifact column that people emptied by hand. */
  readonly removed: ReadonlySet<string>;
  /** Words that a person replaced or took back before the worker had cleared them. */
  raced(): number;
  /** No new mischief; what is waiting for a person is still answered. */
  retire(): void;
  stop(): void;
}

/**
 * People at work: they add rows, type words at good and at bad moments, take them back, edit inputs and scripts while
 * things run, remove results, delete rows. They act on what they see in the table, some minutes late.
 */
export async function hireStaff(world: SimWorld, rowCount: number): Promise<Staff> {
  const random = world.luck('staff');
  const typed: TypedWord[] = [];
  const deleted = new Set<string>();
  const removed = new Set<string>();
  const rows: string[] = [];
  const patience = new Map<string, number>();
  let raced = 0;
  let isActive = true;
  let isWorking = true;
  const { table: door } = world.sandbox;
  const pictures = await Promise.all(
    ['dress', 'mug', 'bag'].map(
      async (name, index) =>
        await door.uploadFile(`${name}.png`, await createPlainPainter().draw(`<svg id="${index}"/>`, 64)),
    ),
  );
  const person = (): string => people[randomInt(random, people.length)]?.openId ?? '';
  const type = (recordId: string, word: string | null): void => {
    if (deleted.has(recordId)) return;
    const before = door.text(table, recordId, '操作');
    if (before !== '' && before !== (word ?? '')) raced += 1;
    door.setCells(table, recordId, { 操作: word }, person());
    if (word !== null) typed.push({ recordId, word, atMs: world.clock.nowMs() });
  };
  const addRow = (): void => {
    const token = pictures[randomInt(random, pictures.length)] ?? '';
    const fields: JsonObject = {
      ...(random.next() < 0.95 ? { 产品图: [{ file_token: token }] } : {}),
      产品说明: `样品 ${rows.length + 1}`,
    };
    const recordId = door.createRow(table, fields, person());
    rows.push(recordId);
    patience.set(recordId, 2 + randomInt(random, 4));
    type(recordId, '提交');
    if (random.next() < 0.1)
      later(randomInt(random, 40_000), () => type(recordId, random.next() < 0.5 ? '提交' : null));
  };
  const later = (delayMs: number, act: () => void): void => {
    world.clock.after(delayMs, () => {
      if (isWorking) act();
    });
  };
  const isPaste = random.next() < 0.15;
  const arrivals = isPaste ? rowCount * 5 : rowCount;
  for (let index = 0; index < arrivals; index += 1)
    later(isPaste ? 10_000 + index : randomInt(random, 5_400_000), addRow);
  const round = (): void => {
    for (const recordId of rows)
      if (!deleted.has(recordId)) visit({ world, random, recordId, type, patience, deleted, removed, isActive });
    later(60_000 + randomInt(random, 240_000), round);
  };
  later(120_000, round);
  return {
    rows: () => rows,
    typed,
    deleted,
    removed,
    raced: () => raced,
    retire: () => {
      isActive = false;
    },
    stop: () => {
      isWorking = false;
    },
  };
}

interface Visit {
  readonly world: SimWorld;
  readonly random: Random;
  readonly recordId: string;
  readonly type: (recordId: string, word: string | null) => void;
  readonly patience: Map<string, number>;
  readonly deleted: Set<string>;
  readonly removed: Set<string>;
  readonly isActive: boolean;
}

/** A person looks at a row and does what they would do. */
function visit(visit: Visit): void {
  const { world, random, recordId, type, isActive } = visit;
  const door = world.sandbox.table;
  if (door.text(table, recordId, '操作') !== '') return;
  const status = door.text(table, recordId, '状态');
  if (isActive && mischief(visit)) return;
  switch (status) {
    case '待确认':
      if (random.next() < 0.6) confirm(visit);
      return;
    case '失败':
    case '待核对':
      if (random.next() < 0.5 && spendPatience(visit)) type(recordId, random.next() < 0.9 ? '提交' : '取消');
      return;
    case '生成中':
      if (isActive && random.next() < 0.02) type(recordId, random.next() < 0.5 ? '取消' : '通过');
      return;
    case '完成':
      if (isActive && random.next() < 0.03 && spendPatience(visit)) type(recordId, '提交');
      return;
    default:
      return;
  }
}

function confirm({ world, random, recordId, type, isActive }: Visit): void {
  const door = world.sandbox.table;
  const luck = random.next();
  if (isActive && luck < 0.15) {
    door.setCells(table, recordId, { 打回意见: '背景再干净一些' });
    type(recordId, '打回');
  } else if (isActive && luck < 0.2) type(recordId, '取消');
  else {
    if (isActive && luck < 0.35) {
      const script = door.text(table, recordId, '脚本方案');
      if (script !== '') door.setCells(table, recordId, { 脚本方案: `${script}\n（已改）` });
    }
    type(recordId, '通过');
  }
}

/** Rare and badly timed. True when the visit is over with it. */
function mischief({ world, random, recordId, type, deleted, removed }: Visit): boolean {
  const door = world.sandbox.table;
  const luck = random.next();
  if (luck < 0.004) {
    door.deleteRow(table, recordId);
    deleted.add(recordId);
    return true;
  }
  if (luck < 0.014) {
    const column = ['上身图', '分镜图'][randomInt(random, 2)] ?? '上身图';
    door.setCells(table, recordId, { [column]: null });
    removed.add(`${recordId}/${column}`);
  } else if (luck < 0.03) door.setCells(table, recordId, { 产品说明: `改于 ${world.clock.nowMs()}` });
  else if (luck < 0.035) door.setCells(table, recordId, { 状态: '完成' });
  else if (luck < 0.045) type(recordId, ['通过', '打回', '提交', '取消'][randomInt(random, 4)] ?? '通过');
  return false;
}

function spendPatience({ patience, recordId }: Visit): boolean {
  const left = patience.get(recordId) ?? 0;
  patience.set(recordId, left - 1);
  return left > 0;
}
