import { type Failure, failureRule, type NodeDefinition } from '../../contract/index.ts';
import { canonicalJson, type Json, type JsonObject } from '../../kernel/index.ts';
import { type LiveGraph, type LiveNode, singleSkillGraph } from '../graph/live.ts';
import { isJsonList } from '../graph/path.ts';
import { openFrame } from './apply.ts';
import type { GraphEnd } from './decide.ts';
import { reportNode } from './finish-node.ts';
import { scopeOf } from './frame.ts';
import { addMarks, type Frame, pathOf } from './run.ts';

type MapDefinition = Extract<NodeDefinition, { kind: 'map' }>;

/** A map under way: which items have ended, which is next. */
interface MapState {
  readonly frame: Frame;
  readonly node: LiveNode;
  readonly definition: MapDefinition;
  readonly graph: LiveGraph;
  readonly items: readonly Json[];
  readonly occurrences: readonly number[];
  readonly ends: Map<number, GraphEnd>;
  next: number;
  open: number;
  isFinished: boolean;
}

/**
 * One run of the body an item, at most `concurrency` at a time. The output is `{items, failed, count}`: one entry an item
 * in order (null where it failed), the indexes that failed, and how many there were.
 */
export function startMap(frame: Frame, node: LiveNode, definition: MapDefinition): void {
  const list = node.resolveList(scopeOf(frame.state));
  const items = isJsonList(list) ? list : undefined;
  const fault =
    items === undefined
      ? `${definition.over} is no list`
      : items.length > definition.max_items
        ? `${items.length} items, at most ${definition.max_items} are allowed`
        : undefined;
  if (items === undefined || fault !== undefined) {
    reportNode(frame, node, {
      kind: 'failed',
      failure: { kind: 'invalid-input', code: 'map', message: fault ?? 'no list' },
    });
    return;
  }
  const graph =
    'skill' in definition.body
      ? singleSkillGraph(definition.body.skill, node)
      : frame.run.plan.graph(definition.body.workflow);
  const state: MapState = {
    frame,
    node,
    definition,
    graph,
    items,
    occurrences: occurrencesOf(items),
    ends: new Map(),
    next: 0,
    open: 0,
    isFinished: false,
  };
  startItems(state);
}

/** Equal items are told apart by how many equal ones come before: inserting another item re-buys nothing. */
function occurrencesOf(items: readonly Json[]): readonly number[] {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const key = canonicalJson(item);
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    return before;
  });
}

/** The same item in an equal item of a map around this one is another occurrence. */
function within(outer: number | string, own: number): number | string {
  return outer === 0 ? own : `${outer}/${own}`;
}

function startItems(state: MapState): void {
  const { frame, definition, items } = state;
  const concurrency = definition.concurrency ?? items.length;
  const isStopping = (): boolean =>
    frame.callRun.stopping() !== undefined || (definition.on_item_failure !== 'keep' && hasFailed(state));
  while (state.next < items.length && state.open < concurrency) {
    const index = state.next;
    state.next += 1;
    // Once stopping, only what was under way before a crash is taken up again: it may be paid for.
    if (isStopping() && !isStored(state, index)) continue;
    state.open += 1;
    startItem(state, index);
  }
  if (state.open === 0 && state.next >= items.length) finishMap(state);
}

function isStored(state: MapState, index: number): boolean {
  const { storedNodes, storedAttempts } = state.frame.run;
  const prefix = `${pathOf(state.frame, state.node.id)}[${index}]`;
  for (const path of [...storedNodes.keys(), ...storedAttempts.keys()]) {
    if (path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}#`)) return true;
  }
  return false;
}

function hasFailed(state: MapState): boolean {
  for (const end of state.ends.values()) if (end.status === 'failed' || end.status === 'canceled') return true;
  return false;
}

function startItem(state: MapState, index: number): void {
  const { frame, node, items } = state;
  const item = items[index] ?? null;
  const scope = { ...scopeOf(frame.state), item, index };
  openFrame(frame.run, state.graph, {
    prefix: `${pathOf(frame, node.id)}[${index}]`,
    parent: frame,
    rootNode: frame.rootNode ?? node.id,
    occurrence: within(frame.occurrence, state.occurrences[index] ?? 0),
    input: inputOf(node, item, scope),
    item,
    index,
    startedAt: frame.state.nodes.get(node.id)?.startedAt ?? frame.run.services.deps.clock.nowMs(),
    onEnd: (end) => {
      state.ends.set(index, end);
      state.open -= 1;
      startItems(state);
    },
  });
}

/** Without an input mapping an item that is an object is the body's input itself. */
function inputOf(node: LiveNode, item: Json, scope: Parameters<LiveNode['resolveInput']>[0]): JsonObject {
  if (node.definition.input !== undefined) return node.resolveInput(scope);
  return typeof item === 'object' && item !== null && !isJsonList(item) ? item : { item };
}

function finishMap(state: MapState): void {
  if (state.isFinished) return;
  state.isFinished = true;
  const { frame, node, definition, items } = state;
  const failed = items.flatMap((_item, index) => (isGood(state.ends.get(index)) ? [] : [index]));
  const first = failed.map((index) => state.ends.get(index)?.failure).find((failure) => failure !== undefined);
  const output = {
    items: items.map(
      (_item, index): Json => (isGood(state.ends.get(index)) ? (state.ends.get(index)?.output ?? {}) : null),
    ),
    failed,
    count: items.length,
  };
  const isCanceled = frame.callRun.stopping() === 'canceled';
  if (failed.length === 0) reportNode(frame, node, { kind: 'succeeded', output });
  else if (isCanceled || first === undefined) reportNode(frame, node, { kind: 'canceled' });
  else if (definition.on_item_failure !== 'keep' || failed.length === items.length) {
    reportNode(frame, node, { kind: 'failed', failure: withNumbers(state, failed, first) });
  } else {
    const failure = withNumbers(state, failed, first);
    const numbers = failed.map((index) => index + 1).join('、');
    const done = items.length - failed.length;
    const text = `「${node.title}」${done}/${items.length} 完成，第 ${numbers} 项失败（${staffReasons(state, failed)}）`;
    const marks = addMarks(frame.run, [{ kind: 'partial', node: pathOf(frame, node.id), text }]);
    reportNode(frame, node, { kind: 'succeeded', output, partial: failure }, marks);
  }
}

function isGood(end: GraphEnd | undefined): boolean {
  return end?.status === 'succeeded' || end?.status === 'partial';
}

/** Why, in words for staff, each reason once. */
function staffReasons(state: MapState, failed: readonly number[]): string {
  const words = failed.flatMap((index) => {
    const failure = state.ends.get(index)?.failure;
    return failure === undefined ? [] : [failure.advice ?? failureRule(failure.kind).staffText];
  });
  return [...new Set(words)].map((each) => each.replace(/。$/, '')).join('；');
}

/** Every failed item is named with its number and reason. */
function withNumbers(state: MapState, failed: readonly number[], first: Failure): Failure {
  const reasons = failed.flatMap((index) => {
    const failure = state.ends.get(index)?.failure;
    return failure === undefined
      ? []
      : [
          `#${index + 1} ${failure.provider === undefined ? '' : `${failure.provider} `}${failure.kind}: ${failure.message}`,
        ];
  });
  return { ...first, message: `${failed.length} of ${state.items.length} items failed: ${reasons.join('; ')}` };
}
