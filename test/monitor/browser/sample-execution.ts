import type { JsonObject } from '../../../src/kernel/index.ts';
import { sampleId } from './sample-id.ts';

/** One execution under way: a map, a degraded node, a refused call, a switch. */
export function sampleExecution(now: number): JsonObject {
  const node = (id: string, title: string, kind: string, from: string[], extra: JsonObject = {}): JsonObject => ({
    id,
    title,
    kind,
    incoming: from.map((each) => ({ from: each, kind: 'data', branch: '', ...extra })),
  });
  const state = (path: string, status: string, start: number, end: number | null, degraded = false): JsonObject => ({
    path,
    status,
    branch: '',
    degraded,
    started_at: now - start,
    ended_at: end === null ? null : now - end,
    failure: null,
  });
  const attempt = (
    index: number,
    path: string,
    provider: string,
    model: string,
    stateName: string,
    start: number,
    end: number | null,
    over: JsonObject = {},
  ): JsonObject => ({
    id: sampleId(9_000 + index),
    node: path,
    ordinal: 1,
    provider,
    model,
    capability: 'image.generate',
    state: stateName,
    intended_at: now - start,
    accepted_at: now - start + 2_500,
    settled_at: end === null ? null : now - end,
    deadline_ms: 600_000,
    polls: 7,
    refused_output: false,
    failure: null,
    cost: {
      state: stateName === 'accepted' ? 'reserved' : 'settled',
      source: 'vendor',
      currency: `credit:${provider}`,
      micros: 12_000_000,
      cny_micros: 426_000,
    },
    ...over,
  });
  const overload = { kind: 'overload', code: '503', text: '厂商繁忙，稍后再选「提交」。', http_status: 503 };
  return {
    updated_at: new Date(now).toISOString(),
    id: sampleId(1),
    agent: 'try-on',
    stage: 'storyboard',
    workflow: 'try-on-storyboard',
    status: 'running',
    generation: 1,
    created_at: now - 260_000,
    started_at: now - 258_000,
    ended_at: null,
    active_ms: 250_000,
    parent_id: null,
    failure: null,
    marks: [{ kind: 'switched', node: 'shots[2]' }],
    cost_cny_micros: 1_310_000,
    open_cny_micros: 852_000,
    graph: {
      title: '分镜',
      nodes: [
        node('read_script', '读取脚本方案', 'function', []),
        node('split', '拆成分镜描述', 'skill', ['read_script']),
        node('keywords', '一致性关键词', 'skill', ['read_script']),
        node('shots', '逐格出图', 'map', ['split', 'keywords']),
        node('check', '检查画面', 'condition', ['shots']),
        node('redo', '补画', 'skill', ['check'], { kind: 'branch', branch: 'missing' }),
        node('sheet', '拼成分镜图', 'function', ['check', 'redo']),
      ],
    },
    nodes: [
      state('read_script', 'succeeded', 258_000, 257_900),
      state('split', 'succeeded', 257_900, 249_000),
      state('keywords', 'succeeded', 257_900, 251_000, true),
      state('shots', 'waiting_provider', 249_000, null),
      ...[0, 1, 2, 3, 4, 5].map((item) =>
        state(`shots[${item}]`, item < 4 ? 'succeeded' : 'waiting_provider', 249_000, item < 4 ? 120_000 : null),
      ),
      state('check', 'pending', 0, null),
    ],
    attempts: [
      attempt(1, 'split', 'llm-primary', 'qwen-plus', 'succeeded', 257_000, 249_000, {
        cost: { state: 'settled', source: 'price_table', currency: 'CNY', micros: 8_200, cny_micros: 8_200 },
      }),
      attempt(2, 'keywords', 'llm-primary', 'qwen-plus', 'failed', 257_000, 254_000, {
        failure: overload,
        cost: { state: 'released', source: 'price_table', currency: 'CNY', micros: 0, cny_micros: 0 },
      }),
      attempt(3, 'shots[0]', 'kie', 'seedream-5', 'succeeded', 248_000, 170_000),
      attempt(4, 'shots[1]', 'kie', 'seedream-5', 'succeeded', 247_500, 150_000),
      attempt(5, 'shots[2]', 'kie', 'seedream-5', 'refused', 247_000, 246_000, {
        accepted_at: null,
        failure: overload,
        cost: { state: 'released', source: 'vendor', currency: 'credit:kie', micros: 0, cny_micros: 0 },
      }),
      attempt(6, 'shots[2]', 'toapis', 'gpt-image-2', 'succeeded', 243_000, 130_000, { ordinal: 2 }),
      attempt(7, 'shots[4]', 'kie', 'seedream-5', 'accepted', 119_000, null),
      attempt(8, 'shots[5]', 'kie', 'seedream-5', 'accepted', 118_000, null),
    ],
    events: [
      { seq: 1201, at: now - 260_000, type: 'execution-queued', node: '', provider: '', model: '' },
      { seq: 1202, at: now - 258_000, type: 'execution-started', node: '', provider: '', model: '' },
      {
        seq: 1240,
        at: now - 246_000,
        type: 'candidate-switched',
        node: 'shots[2]',
        provider: 'kie',
        model: 'seedream-5',
      },
    ],
  };
}
