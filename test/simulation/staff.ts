import { type JsonObject, type Random, randomInt } from '../../src/kernel/index.ts';
import { createPlainPainter } from '../../src/sandbox/index.ts';
import { people, type SimTable, type SimWorld } from './world.ts';

/** What a person did to 操作, in order of time; the checks hold the worker's answers against it. */
export interface TypedWord {
  readonly recordId: string;
  readonly word: string;
  readonly atMs: number;
}

export interface SimRow {
  readonly table: SimTable;
  readonly recordId: string;
}

export interface Staff {
  readonly rows: () => readonly SimRow[];
  readonly typed: readonly TypedWord[];
  /** Rows that people deleted. */
  readonly deleted: ReadonlySet<string>;
  /** Row and artifact column that people emptied or filled by hand: `recXYZ/上身图`. */
  readonly touched: ReadonlySet<string>;
  /** Table and column that bore another name for a while: `tblXYZ/分镜图`. */
  readonly renamed: ReadonlySet<string>;
  /** Words that a person replaced or took back before the worker had cleared them. */
  raced(): number;
  /** No new mischief; what is waiting for a person is still answered. */
  retire(): void;
  stop(): void;
}

/** Rows of one paste out of a spreadsheet. */
const pastedRows = 50;

/** What one visit to a row may use. */
interface Visit {
  readonly world: SimWorld;
  readonly random: Random;
  readonly row: SimRow;
  readonly type: (row: SimRow, word: string | null) => void;
  readonly patience: Map<string, number>;
  readonly deleted: Set<string>;
  readonly touched: Set<string>;
  readonly picture: () => string;
  readonly isActive: boolean;
}

/**
 * People at work: they add rows, type words at good and at bad moments, take them back, edit inputs and scripts while
 * things run, remove results, put files of their own, delete rows, rename columns. They act on what they see in the
 * table, some minutes late.
 */
export async function hireStaff(world: SimWorld, rowCount: number): Promise<Staff> {
  const random = world.luck('staff');
  const typed: TypedWord[] = [];
  const deleted = new Set<string>();
  const touched = new Set<string>();
  const renamed = new Set<string>();
  const rows: SimRow[] = [];
  const patience = new Map<string, number>();
  let raced = 0;
  let isActive = true;
  let isWorking = true;
  const { table: door } = world.sandbox;
  const pictures = await drawPictures(world);
  const picture = (): string => pictures[randomInt(random, pictures.length)] ?? '';
  const person = (): string => people[randomInt(random, people.length)]?.openId ?? '';
  const later = (delayMs: number, act: () => void): void => {
    world.clock.after(delayMs, () => {
      if (isWorking) act();
    });
  };
  const type = ({ table, recordId }: SimRow, word: string | null): void => {
    if (deleted.has(recordId)) return;
    const before = door.text(table.tableId, recordId, '操作');
    if (before !== '' && before !== (word ?? '')) raced += 1;
    write(world, table.tableId, recordId, { 操作: word }, person());
    if (word !== null) typed.push({ recordId, word, atMs: world.clock.outside.nowMs() });
  };
  const addRow = (table: SimTable): void => {
    const recordId = door.createRow(
      table.tableId,
      asNamed(world, table.tableId, inputsOf(table, random, picture)),
      person(),
    );
    const row = { table, recordId };
    rows.push(row);
    patience.set(recordId, 2 + randomInt(random, 4));
    type(row, '提交');
    if (random.next() < 0.1) later(randomInt(random, 40_000), () => type(row, random.next() < 0.5 ? '提交' : null));
  };
  const isPaste = random.next() < 0.1;
  const arrivals = isPaste ? (random.next() < 0.2 ? pastedRows : rowCount * 4) : rowCount;
  const others = Math.max(1, world.tables.length - 1);
  for (let index = 0; index < arrivals; index += 1) {
    // Every third row is another agent's, in turn.
    const other = world.tables[1 + (Math.floor(index / 3) % others)];
    const table = (index % 3 === 2 ? other : undefined) ?? world.tables[0];
    if (table === undefined) continue;
    later(isPaste ? 10_000 + index : randomInt(random, 5_400_000), () => addRow(table));
  }
  const round = (): void => {
    for (const row of rows)
      if (!deleted.has(row.recordId))
        visit({ world, random, row, type, patience, deleted, touched, picture, isActive });
    later(60_000 + randomInt(random, 240_000), round);
  };
  later(120_000, round);
  if (random.next() < 0.15) later(randomInt(random, 7_200_000), () => renamed.add(renameForAWhile(world, random)));
  return {
    rows: () => rows,
    typed,
    deleted,
    touched,
    renamed,
    raced: () => raced,
    retire: () => {
      isActive = false;
    },
    stop: () => {
      isWorking = false;
    },
  };
}

async function drawPictures({ sandbox }: SimWorld): Promise<readonly string[]> {
  const painter = createPlainPainter();
  return await Promise.all(
    ['dress', 'mug', 'bag'].map(
      async (name, index) =>
        await sandbox.table.uploadFile(`${name}.png`, await painter.draw(`<svg id="${index}"/>`, 64)),
    ),
  );
}

/** A row as staff fill it in; now and then the required picture is forgotten. */
function inputsOf({ agent }: SimTable, random: Random, picture: () => string): JsonObject {
  const fields: Record<string, JsonObject[] | string | number> = {};
  for (const { column, type, required, options } of Object.values(agent.inputs)) {
    const isGiven = random.next() < (required === true ? 0.96 : 0.7);
    if (!isGiven) continue;
    if (type === 'attachment') fields[column] = [{ file_token: picture() }];
    else if (type === 'number') fields[column] = 3 + randomInt(random, 4);
    else if (type === 'select') fields[column] = options?.[randomInt(random, options.length)] ?? '';
    else fields[column] = `样品 ${randomInt(random, 1_000)}：轻便、耐用，适合通勤`;
  }
  return fields;
}

const renamedSuffix = '（旧）';

/** What a column is called in the configuration, whatever it was called when it was written to. */
export function shippedName(column: string): string {
  return column.replace(renamedSuffix, '');
}

/** Somebody tidies up the table's head, and puts it back when asked. Returns the table and the column. */
function renameForAWhile({ sandbox, tables, clock }: SimWorld, random: Random): string {
  const tableId = tables[0]?.tableId ?? '';
  const column = ['进度', '提示', '报错', '产品说明', '状态', '分镜图'][randomInt(random, 6)] ?? '进度';
  sandbox.table.renameColumn(tableId, column, `${column}${renamedSuffix}`);
  clock.after(60_000 + randomInt(random, 2_400_000), () =>
    sandbox.table.renameColumn(tableId, `${column}${renamedSuffix}`, column),
  );
  return `${tableId}/${column}`;
}

/** People write into the column that they see, whatever it is called just now. */
function write(
  { sandbox }: Pick<SimWorld, 'sandbox'>,
  tableId: string,
  recordId: string,
  fields: JsonObject,
  openId?: string,
): void {
  sandbox.table.setCells(tableId, recordId, asNamed({ sandbox }, tableId, fields), openId);
}

function asNamed({ sandbox }: Pick<SimWorld, 'sandbox'>, tableId: string, fields: JsonObject): JsonObject {
  const names = new Set(sandbox.table.fields(tableId).map((field) => field.name));
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [names.has(name) ? name : `${name}${renamedSuffix}`, value]),
  );
}

/** A person looks at a row and does what they would do. */
function visit(visit: Visit): void {
  const { world, random, row, type, isActive } = visit;
  const { tableId } = row.table;
  const door = world.sandbox.table;
  if (door.text(tableId, row.recordId, '操作') !== '') return;
  const status = door.text(tableId, row.recordId, '状态');
  if (isActive && mischief(visit)) return;
  switch (status) {
    case '待确认':
      if (random.next() < 0.6) confirm(visit);
      return;
    case '失败':
      if (random.next() < 0.4 && spendPatience(visit)) type(row, '提交');
      return;
    case '待核对':
      doubt(visit);
      return;
    case '生成中':
      if (isActive && random.next() < 0.01) type(row, random.next() < 0.5 ? '取消' : '通过');
      return;
    case '完成':
      if (isActive && random.next() < 0.03 && spendPatience(visit)) type(row, '提交');
      return;
    default:
      return;
  }
}

function confirm({ world, random, row, type, isActive }: Visit): void {
  const { table, recordId } = row;
  const door = world.sandbox.table;
  const luck = random.next();
  if (isActive && luck < 0.15) {
    write(world, table.tableId, recordId, { 打回意见: '背景再干净一些' });
    type(row, '打回');
  } else if (isActive && luck < 0.2) type(row, '取消');
  else {
    const texts = table.agent.stages.flatMap((stage) => stage.artifacts).filter((each) => each.type === 'text');
    const column = texts[0]?.column;
    const written = column === undefined ? '' : door.text(table.tableId, recordId, column);
    if (isActive && luck < 0.35 && column !== undefined && written !== '')
      write(world, table.tableId, recordId, { [column]: `${written}\n（已改）` });
    type(row, '通过');
  }
}

/** Nobody can ask the vendor in here: people wait a while, then buy again, give up, or put a file of their own. */
function doubt({ world, random, row, type, touched, picture, ...visit }: Visit): void {
  if (random.next() >= 0.3) return;
  const { table, recordId } = row;
  const luck = random.next();
  if (luck < 0.15) {
    type(row, '取消');
    return;
  }
  if (luck < 0.3) {
    const door = world.sandbox.table;
    const next = table.agent.stages
      .map((stage) => stage.artifacts[0])
      .find((key) => key !== undefined && isEmpty(door.row(table.tableId, recordId)?.[key.column]));
    if (next?.type === 'attachment') {
      write(world, table.tableId, recordId, { [next.column]: [{ file_token: picture() }] });
      touched.add(`${recordId}/${next.column}`);
    }
  }
  if (spendPatience({ row, ...visit })) type(row, '提交');
}

function isEmpty(cell: unknown): boolean {
  return cell === undefined || cell === null || (Array.isArray(cell) && cell.length === 0) || cell === '';
}

/** Rare and badly timed. True when the visit is over with it. */
function mischief({ world, random, row, type, deleted, touched }: Visit): boolean {
  const { table, recordId } = row;
  const { tableId } = table;
  const door = world.sandbox.table;
  const luck = random.next();
  if (luck < 0.004) {
    door.deleteRow(tableId, recordId);
    deleted.add(recordId);
    return true;
  }
  if (luck < 0.014) {
    const keys = table.agent.stages.flatMap((stage) => stage.artifacts.slice(0, 1));
    const column = keys[randomInt(random, keys.length)]?.column ?? '';
    write(world, tableId, recordId, { [column]: null });
    touched.add(`${recordId}/${column}`);
  } else if (luck < 0.03) {
    const text = Object.values(table.agent.inputs).find((input) => input.type === 'text');
    if (text !== undefined) write(world, tableId, recordId, { [text.column]: `改于 ${world.clock.nowMs()}` });
  } else if (luck < 0.035) write(world, tableId, recordId, { 状态: '完成' });
  else if (luck < 0.045) type(row, anyWord(random));
  else if (luck < 0.05) {
    // Two people on one row: each types what they hold to be right, the other's word not yet seen.
    type(row, anyWord(random));
    world.clock.after(randomInt(random, 8_000), () => type(row, anyWord(random)));
  }
  return false;
}

function anyWord(random: Random): string {
  return ['通过', '打回', '提交', '取消'][randomInt(random, 4)] ?? '通过';
}

function spendPatience({ patience, row }: Pick<Visit, 'patience' | 'row'>): boolean {
  const left = patience.get(row.recordId) ?? 0;
  patience.set(row.recordId, left - 1);
  return left > 0;
}
