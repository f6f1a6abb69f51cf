import type { AgentDefinition } from '../contract/index.ts';
import type { SampleRow } from '../config/index.ts';
import { rowSourcePrefix } from '../bitable/index.ts';
import { type Clock, sleep } from '../kernel/index.ts';
import { sandboxTableId } from './sandbox.ts';
import type { SandboxServer } from './sandbox-server.ts';
import type { Worker } from './worker.ts';

/** A sample row at its end, as `npm run demo -- --json` prints it (contract §4). */
export interface DemoRow {
  readonly agent: string;
  readonly name: string;
  readonly record_id: string;
  readonly expected: string;
  readonly status: string;
  readonly degraded: boolean;
  readonly stages: number;
  readonly cost_cny: string;
  readonly attachments: Readonly<Record<string, number>>;
  /** The platform's calls of the whole demo, shared out evenly over its rows. */
  readonly feishu_calls: number;
  readonly ok: boolean;
}

export interface DemoReport {
  readonly ok: boolean;
  readonly rows: readonly DemoRow[];
  readonly wall_ms: number;
}

interface Player {
  readonly agent: AgentDefinition;
  readonly sample: SampleRow;
  readonly tableId: string;
  readonly recordId: string;
  /** Words still to be typed; undefined: 通过 as often as it is waited for. */
  readonly script: string[] | undefined;
  calmSince: number | undefined;
}

const resting = new Set(['待确认', '完成', '失败', '待核对', '已取消']);
/** A row counts as ended when it has rested so long: a late write could still come. */
const calmMs = 1_500;
const lookMs = 100;

/** Plays the staff of every sample row until all rest, or `limitMs` is over. */
export async function playDemo(worker: Worker, sandbox: SandboxServer, limitMs: number): Promise<DemoReport> {
  const { clock } = worker.house.ports;
  const startedMs = clock.monotonicMs();
  const players = findPlayers(worker, sandbox);
  const door = sandbox.sandbox.table;
  for (const player of players)
    door.setCells(player.tableId, player.recordId, { 操作: player.script?.shift() ?? '提交' });
  while (clock.monotonicMs() - startedMs < limitMs) {
    const open = players.filter((player) => !hasEnded(player, sandbox, clock));
    if (open.length === 0) break;
    await sleep(clock, lookMs);
  }
  const calls = Object.entries(sandbox.sandbox.books.calls()).filter(([name]) => name.startsWith('feishu.'));
  const share = Math.round(calls.reduce((sum, [, count]) => sum + count, 0) / Math.max(1, players.length));
  const rows = await Promise.all(players.map(async (player) => await report(player, worker, sandbox, share)));
  return {
    ok: rows.length > 0 && rows.every((row) => row.ok),
    rows,
    wall_ms: Math.round(clock.monotonicMs() - startedMs),
  };
}

function findPlayers(worker: Worker, sandbox: SandboxServer): readonly Player[] {
  return [...worker.config.definitions.agents.values()].flatMap((agent) => {
    const tableId = sandboxTableId(agent.agent);
    const recordIds = sandbox.sandbox.table.recordIds(tableId);
    return (sandbox.samples.get(agent.agent) ?? []).flatMap((sample, index) => {
      const recordId = recordIds[index];
      const script = sample.types === undefined ? undefined : [...sample.types];
      return recordId === undefined ? [] : [{ agent, sample, tableId, recordId, script, calmSince: undefined }];
    });
  });
}

/** Looks at a row as its staff would, types what they would, and tells whether it has come to its end. */
function hasEnded(player: Player, { sandbox }: SandboxServer, clock: Clock): boolean {
  const { tableId, recordId } = player;
  const isQuiet = sandbox.table.text(tableId, recordId, '操作') === '';
  const status = sandbox.table.text(tableId, recordId, '状态');
  if (!isQuiet || !resting.has(status)) {
    player.calmSince = undefined;
    return false;
  }
  const word = player.script === undefined ? '通过' : player.script[0];
  if (status === '待确认' && word !== undefined) {
    player.script?.shift();
    sandbox.table.setCells(tableId, recordId, { 操作: word });
    player.calmSince = undefined;
    return false;
  }
  player.calmSince ??= clock.monotonicMs();
  return clock.monotonicMs() - player.calmSince >= calmMs;
}

async function report(player: Player, worker: Worker, { sandbox }: SandboxServer, calls: number): Promise<DemoRow> {
  const { agent, sample, tableId, recordId } = player;
  const row = sandbox.table.row(tableId, recordId) ?? {};
  const status = sandbox.table.text(tableId, recordId, '状态');
  const sourceRefPrefix = rowSourcePrefix({ table: { appToken: sandbox.appToken, tableId }, recordId });
  const executions = await worker.house.ports.store.executions({ sourceRefPrefix, limit: 100 });
  const degraded = executions.some((execution) => execution.marks.some((mark) => mark.kind === 'degraded'));
  const cost = row['成本(元)'];
  const attachments = agent.stages
    .flatMap((stage) => stage.artifacts)
    .flatMap(({ column, type }) => {
      const cell = row[column];
      return type === 'attachment' && Array.isArray(cell) ? [[column, cell.length] as const] : [];
    });
  return {
    agent: agent.agent,
    name: sample.name,
    record_id: recordId,
    expected: sample.expect.status,
    status,
    degraded,
    stages: new Set(executions.filter(({ status: end }) => end === 'succeeded').map(({ sourceRef }) => sourceRef)).size,
    cost_cny: (typeof cost === 'number' ? cost : 0).toFixed(4),
    attachments: Object.fromEntries(attachments),
    feishu_calls: calls,
    ok:
      status === sample.expect.status && (sample.expect.degraded === undefined || sample.expect.degraded === degraded),
  };
}
