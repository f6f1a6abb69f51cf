import { agentSchema, type AgentDefinition, settingsSchema, type Artifact } from '../../../src/contract/index.ts';
import { type AgentTable, createTableSide, type TableSide, type TableSideDeps } from '../../../src/bitable/index.ts';
import type { FieldInfo } from '../../../src/feishu/client.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  type Json,
  type JsonObject,
  noFailpoints,
  silentLogger,
  type VirtualClock,
} from '../../../src/kernel/index.ts';
import { createMemorySpool, type Spool } from '../../../src/media/index.ts';
import type { Store } from '../../../src/engine/ports/index.ts';
import { openTestStore } from '../../support/test-store.ts';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createFakeEngine, type FakeEngine } from './fake-engine.ts';
import { createFakeFeishu, type FakeFeishu } from './fake-feishu.ts';

export const settings = settingsSchema.parse(parse(readFileSync('config/gridloom.yaml', 'utf8')));
export const base = 'app1';
export const tableId = 'tbl1';

/** A small three-stage agent in the manner of try-on. */
export const tryOn: AgentDefinition = agentSchema.parse({
  agent: 'try-on',
  title: '上身图',
  table_env: 'TRY_ON_TABLE_ID',
  inputs: {
    photos: { column: '产品图', type: 'attachment', required: true, max: 4, missing: '请先上传产品图。' },
    notes: { column: '产品说明', type: 'text' },
  },
  stages: [
    {
      stage: 'portrait',
      title: '①上身图',
      workflow: 'w-portrait',
      input: { photos: '$.inputs.photos', notes: '$.inputs.notes', feedback: '$.feedback' },
      artifacts: [
        { column: '上身图', type: 'attachment', from: 'portrait', file_name: '上身图' },
        { column: '脚本方案', type: 'text', from: 'script' },
      ],
      confirm: true,
    },
    {
      stage: 'storyboard',
      title: '②分镜',
      workflow: 'w-storyboard',
      input: { portrait: '$.artifacts.上身图', script: '$.artifacts.脚本方案' },
      artifacts: [{ column: '分镜图', type: 'attachment', from: 'board' }],
      confirm: { setting: 'SB_CONFIRM' },
    },
    {
      stage: 'film',
      title: '③视频',
      workflow: 'w-film',
      input: { board: '$.artifacts.分镜图', script: '$.artifacts.脚本方案' },
      artifacts: [{ column: '视频', type: 'attachment', from: 'film', file_name: '视频' }],
      confirm: false,
    },
  ],
  keep_versions: 2,
});

export const tryOnFields: readonly FieldInfo[] = [
  ['操作', 3],
  ['状态', 3],
  ['报错', 1],
  ['成本(元)', 2],
  ['进度', 1],
  ['提示', 1],
  ['打回意见', 1],
  ['耗时(秒)', 2],
  ['执行编号', 1],
  ['提交人', 11],
  ['产品图', 17],
  ['产品说明', 1],
  ['上身图', 17],
  ['脚本方案', 1],
  ['分镜图', 17],
  ['视频', 17],
].map(([name, type], index) => ({
  fieldId: `fld${index}`,
  name: String(name),
  type: Number(type),
  property: { options: [{ name: '生成中' }, { name: '完成' }] },
}));

export interface World {
  readonly feishu: FakeFeishu;
  readonly engine: FakeEngine;
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: VirtualClock;
  side: TableSide;
  /** Another process on the same disk. */
  restart(changes?: Partial<TableSideDeps>): Promise<void>;
  /** One turn of the poll and everything that follows from it. */
  turn(): Promise<void>;
  settle(forMs?: number): Promise<void>;
  row(id: string): Record<string, Json>;
  cell(id: string, column: string): Json | undefined;
  put(id: string, cells: Record<string, Json>): void;
  /** A row with a picture, ready to be submitted. */
  newRow(id: string, cells?: Record<string, Json>): void;
  photo(name?: string, bytes?: Uint8Array): JsonObject;
  made(label: string): Promise<Artifact>;
  /** The output of a stage's workflow. */
  output(stage: string, label?: string): Promise<JsonObject>;
  tokens(id: string, column: string): readonly string[];
}

const pngHead = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
function png(text: string): Uint8Array {
  return Buffer.concat([pngHead, Buffer.from(`IHDR ${text}`.padEnd(64, '.'))]);
}

export async function createWorld(changes: Partial<TableSideDeps> = {}): Promise<World> {
  const clock = createVirtualClock();
  const random = createSeededRandom(7);
  const ids = createIdSource(clock, random);
  const store = await openTestStore(clock);
  const spool = createMemorySpool();
  const feishu = createFakeFeishu();
  const engine = createFakeEngine(store, clock, ids);
  feishu.tables.set(tableId, { fields: [...tryOnFields], rows: new Map() });
  const agents: readonly AgentTable[] = [{ definition: tryOn, table: { appToken: base, tableId } }];
  const build = (more: Partial<TableSideDeps>): TableSide =>
    createTableSide({
      client: feishu,
      engine,
      store,
      spool,
      clock,
      ids,
      random,
      logger: silentLogger,
      failpoints: noFailpoints,
      settings,
      agents,
      instanceTag: 'tag1',
      confirmSetting: () => true,
      ...changes,
      ...more,
    });
  const rows = (): Map<string, Record<string, Json>> => {
    const table = feishu.tables.get(tableId);
    if (table === undefined) throw new Error('no table');
    return table.rows;
  };
  const world: World = {
    feishu,
    engine,
    store,
    spool,
    clock,
    side: build({}),
    restart: async (more = {}) => {
      world.side = build(more);
      await start(world);
    },
    turn: async () => {
      const done = world.side.tick();
      await world.settle(30_000);
      await done;
    },
    settle: async (forMs = 30_000) => {
      for (let left = forMs; left > 0; left -= 500) await clock.advance(500);
    },
    row: (id) => rows().get(id) ?? {},
    cell: (id, column) => rows().get(id)?.[column] ?? undefined,
    put: (id, cells) => rows().set(id, { ...rows().get(id), ...cells }),
    newRow: (id, cells = {}) => rows().set(id, { 产品图: [world.photo(`${id}.png`)], 操作: '提交', ...cells }),
    photo: (name = 'a.png', bytes = png(name)) => ({ file_token: feishu.addFile(base, name, bytes) }),
    made: async (label) => {
      const kept = await spool.keep(png(label), `${label}.png`);
      if (!kept.ok) throw new Error(kept.failure.message);
      return kept.value;
    },
    output: async (stage, label = stage) => {
      const file = { ...(await world.made(label)) };
      if (stage === 'portrait') return { portrait: file, script: `脚本 ${label}` };
      return stage === 'storyboard' ? { board: [file] } : { film: file };
    },
    tokens: (id, column) =>
      ((rows().get(id)?.[column] ?? []) as unknown as readonly { file_token: string }[]).map((file) => file.file_token),
  };
  await start(world);
  return world;
}

async function start(world: World): Promise<void> {
  const started = world.side.start();
  await world.settle(1_000);
  const result = await started;
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
}
