import { createSeededRandom, type JsonObject, randomInt } from '../../../src/kernel/index.ts';
import { sampleExecution } from './sample-execution.ts';
import { sampleId } from './sample-id.ts';
import { sampleMetrics } from './sample-metrics.ts';

/** The files of an installation at work, made from a seed; `now` is what the page's clock shall be. */
export interface PageFiles {
  readonly metrics: JsonObject;
  readonly list: JsonObject;
  readonly details: Readonly<Record<string, JsonObject>>;
}

const agents = ['try-on', 'element-extraction', 'photo-studio', 'content', 'deck', 'screenshot-review'];
const titles: Readonly<Record<string, string>> = {
  write_prompt: '写提示词',
  draw: '生成画面',
  check: '检查画面',
  film: '生成视频',
};
const stages = ['look', 'storyboard', 'video', 'element', 'draft', 'outline'];
const vendors: [string, string[]][] = [
  ['kie', ['seedream-5', 'veo-4', 'kling-3']],
  ['toapis', ['gpt-image-2', 'sora-3']],
  ['llm-primary', ['qwen-plus']],
];
export function sampleFiles(
  now: number,
  options: { readonly executions?: number; readonly trouble?: boolean } = {},
): PageFiles {
  const count = options.executions ?? 60;
  const rows = Array.from({ length: count }, (_, index) => sampleRow(index, now, count));
  const open = rows.filter((row) => row[7] === null);
  const byAgent: Record<string, { queued: number; running: number; held: number }> = {};
  for (const row of open) {
    const counts = (byAgent[String(row[1])] ??= { queued: 0, running: 0, held: 0 });
    if (row[4] === 'queued' || row[4] === 'running' || row[4] === 'held') counts[row[4]] += 1;
  }
  const sum = (status: string): number => open.filter((row) => row[4] === status).length;
  return {
    metrics: sampleMetrics(
      now,
      byAgent,
      { queued: sum('queued'), running: sum('running'), held: sum('held') },
      options.trouble === true,
    ),
    list: {
      updated_at: new Date(now).toISOString(),
      columns: [
        'id',
        'agent',
        'stage',
        'workflow',
        'status',
        'created_at',
        'started_at',
        'ended_at',
        'node',
        'title',
        'vendor',
        'model',
        'since',
        'attempts',
        'degraded',
        'failure_kind',
      ],
      executions: rows,
    },
    details: { [sampleId(1)]: sampleExecution(now) },
  };
}

export type Row = (string | number | boolean | null)[];

function sampleRow(index: number, now: number, count: number): Row {
  const random = createSeededRandom(index + 1);
  const pick = <T>(list: readonly T[]): T => list[randomInt(random, list.length)]!;
  const [vendor, models] = pick(vendors);
  const share = index / count;
  const status =
    share < 0.04
      ? 'queued'
      : share < 0.28
        ? 'running'
        : share < 0.3
          ? 'held'
          : pick(['succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded', 'partial', 'failed', 'canceled']);
  const isOpen = share < 0.3;
  const created = now - randomInt(random, isOpen ? 900_000 : 8 * 3_600_000);
  const ended = isOpen ? null : Math.min(now, created + 40_000 + randomInt(random, 400_000));
  const node = pick(['write_prompt', 'draw', 'check', 'shots[3]', 'film', 'section']);
  return [
    sampleId(index + 1),
    pick(agents),
    pick(stages),
    'sample-flow',
    status,
    created,
    status === 'queued' ? null : created + 1_500,
    ended,
    node,
    titles[node] ?? '',
    status === 'queued' ? '' : vendor,
    status === 'queued' ? '' : pick(models),
    ended ?? created + 4_000,
    1 + randomInt(random, 4),
    share > 0.3 && share < 0.34,
    status === 'failed' ? pick(['overload', 'generation-failed', 'rate-limit']) : '',
  ];
}

/** An installation on its first minute. */
export function emptyFiles(now: number): PageFiles {
  const { metrics: full } = sampleFiles(now, { executions: 0 });
  const none = {
    cny_micros: 0,
    open_cny_micros: 0,
    calls: 0,
    estimated_calls: 0,
    unpriced_calls: 0,
    by_agent: {},
    by_vendor: {},
    totals_micros: {},
  };
  const days = full['days'];
  return {
    metrics: {
      ...full,
      executions: {
        queued: 0,
        running: 0,
        held: 0,
        by_agent: {},
        waiting: {},
        today: { succeeded: 0, partial: 0, failed: 0, canceled: 0, degraded: 0, switched: 0 },
      },
      vendors: {},
      feishu: null,
      money: { today: none, month: none },
      days: Array.isArray(days)
        ? days.map((day) => ({
            ...(day as JsonObject),
            cny_micros: 0,
            calls: 0,
            succeeded: 0,
            partial: 0,
            failed: 0,
            canceled: 0,
          }))
        : [],
      people: [],
      balances: [],
      alerts: { raised: [], recent: [], channels: {} },
    },
    list: { ...sampleFiles(now, { executions: 0 }).list },
    details: {},
  };
}
