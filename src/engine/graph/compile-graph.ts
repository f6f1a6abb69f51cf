import type { Definitions, NodeDefinition, WorkflowDefinition } from '../../contract/index.ts';
import { checkSchema } from './compile-skill.ts';
import { checkDataPaths } from './data-check.ts';
import { clashingBranches, type DraftNode, reduceOrderEdges, topologicalOrder } from './edges.ts';
import { parseExpression } from './expression.ts';
import { didYouMean, type Fault } from './faults.ts';
import { fallbackNode, mappingsOf } from './node-parts.ts';
import type { PlanEdge, PlanGraph } from './plan.ts';

export interface Surroundings {
  readonly definitions: Definitions;
  readonly functions: ReadonlySet<string> | undefined;
}

/** One workflow: edges from what its nodes name, checked, ordered and reduced. */
export function compileGraph(workflow: WorkflowDefinition, around: Surroundings, fault: Fault): PlanGraph {
  const definitions = new Map(Object.entries(workflow.nodes));
  checkSchema(workflow.input, ['input'], fault);
  for (const [id, node] of definitions) checkReferences(id, node, around, fault);
  const drafts = new Map<string, DraftNode>();
  for (const [id, node] of definitions) {
    drafts.set(id, { id, join: node.join ?? 'all', incoming: edgesInto(id, node, definitions, fault) });
  }
  addFallbackEdges(definitions, drafts, fault);
  checkDataPaths(workflow, around.definitions, fault);
  const sorted = topologicalOrder(drafts);
  const order = 'order' in sorted ? sorted.order : [];
  if ('cycle' in sorted) {
    fault(
      ['nodes', sorted.cycle[0] ?? ''],
      `nodes wait for each other: ${sorted.cycle.join(' → ')}`,
      'a workflow has no loops: take one of these edges out',
    );
  } else {
    checkFallbackOrder(definitions, drafts, fault);
    for (const clash of clashingBranches(drafts, order)) {
      const what = `branches ${clash.branches.join(' and ')} of "${clash.condition}" meet here, so it could never run`;
      fault(['nodes', clash.node], what, 'declare the meeting: join: any');
    }
    reduceOrderEdges(drafts, order);
  }
  return {
    name: workflow.workflow,
    ...(workflow.version === undefined ? {} : { version: workflow.version }),
    ...(workflow.title === undefined ? {} : { title: workflow.title }),
    ...(workflow.max_concurrency === undefined ? {} : { maxConcurrency: workflow.max_concurrency }),
    ...(workflow.deadline === undefined ? {} : { deadlineMs: workflow.deadline }),
    keepPartial: workflow.keep_partial ?? false,
    input: workflow.input,
    nodes: order.flatMap((id) => {
      const definition = definitions.get(id);
      return definition === undefined ? [] : [{ id, definition, incoming: drafts.get(id)?.incoming ?? [] }];
    }),
    output: workflow.output,
  };
}

function checkReferences(id: string, node: NodeDefinition, around: Surroundings, fault: Fault): void {
  const { skills, workflows } = around.definitions;
  const mustExist = (
    kind: string,
    name: string,
    known: { has(name: string): boolean; keys(): Iterable<string> },
    member: string[],
  ): void => {
    if (!known.has(name)) fault(['nodes', id, ...member], `no ${kind} named "${name}"`, didYouMean(name, known.keys()));
  };
  if (node.kind === 'skill') mustExist('skill', node.skill, skills, ['skill']);
  if (node.kind === 'workflow') mustExist('workflow', node.workflow, workflows, ['workflow']);
  if (node.kind === 'map' && 'skill' in node.body) mustExist('skill', node.body.skill, skills, ['body', 'skill']);
  if (node.kind === 'map' && 'workflow' in node.body)
    mustExist('workflow', node.body.workflow, workflows, ['body', 'workflow']);
  if (node.kind === 'function' && around.functions !== undefined)
    mustExist('function', node.function, around.functions, ['function']);
  if (node.kind === 'condition') {
    for (const [branch, rule] of Object.entries(node.branches)) {
      const parsed = parseExpression(rule, ['input']);
      if (!parsed.ok) fault(['nodes', id, 'branches', branch], parsed.failure, 'a branch is CEL over `input`');
    }
  }
}

function edgesInto(
  id: string,
  node: NodeDefinition,
  all: ReadonlyMap<string, NodeDefinition>,
  fault: Fault,
): readonly PlanEdge[] {
  const edges = new Map<string, PlanEdge>();
  const addData = (from: string, path: readonly (string | number)[]): void => {
    if (!all.has(from)) fault(path, `no node named "${from}"`, didYouMean(from, all.keys()));
    else edges.set(`data ${from}`, { from, kind: 'data' });
  };
  for (const { place, mapping } of mappingsOf(node)) {
    for (const each of mapping.faults) fault(['nodes', id, ...place, ...each.at], each.what, 'see the data paths');
    for (const { at, path } of mapping.paths) {
      if (path.root === 'nodes') addData(String(path.steps[0]), ['nodes', id, ...place, ...at]);
      const isItem = path.root === 'item' || path.root === 'index';
      if (path.root === 'feedback' || path.root === 'output' || (isItem && node.kind !== 'map')) {
        fault(
          ['nodes', id, ...place, ...at],
          `$.${path.root} means nothing here`,
          'use $.input, $.nodes or $.params ($.item and $.index in a map)',
        );
      }
    }
  }
  for (const [at, text] of (node.after ?? []).entries()) {
    const edge = orderEdge(text, all, ['nodes', id, 'after', at], fault);
    if (edge === undefined) continue;
    const key = `after ${text}`;
    if (edges.has(key)) fault(['nodes', id, 'after', at], `"${text}" is named twice`, 'name it once');
    edges.set(key, edge);
  }
  return [...edges.values()];
}

function orderEdge(
  text: string,
  all: ReadonlyMap<string, NodeDefinition>,
  path: readonly (string | number)[],
  fault: Fault,
): PlanEdge | undefined {
  const [from = '', branch, ...rest] = text.split('.');
  const node = all.get(from);
  if (node === undefined || rest.length > 0) {
    fault(path, `no node named "${text}"`, didYouMean(from, all.keys()));
    return undefined;
  }
  if (branch === undefined) return { from, kind: 'order' };
  const branches = node.kind === 'condition' ? [...Object.keys(node.branches), 'else'] : [];
  if (branches.includes(branch)) return { from, kind: 'branch', branch };
  fault(
    path,
    `"${from}" has no branch "${branch}"`,
    branches.length === 0 ? 'only condition nodes have branches' : didYouMean(branch, branches),
  );
  return undefined;
}

/** The node that a failed one falls back on runs only then: an edge from the failed one's failure. */
function addFallbackEdges(
  definitions: ReadonlyMap<string, NodeDefinition>,
  drafts: ReadonlyMap<string, DraftNode>,
  fault: Fault,
): void {
  for (const [id, node] of definitions) {
    const target = fallbackNode(node);
    if (target === undefined) continue;
    const draft = drafts.get(target);
    const path = ['nodes', id, 'on_failure', 'fallback', 'node'];
    if (draft === undefined) fault(path, `no node named "${target}"`, didYouMean(target, drafts.keys()));
    else if (target === id) fault(path, 'a node cannot fall back on itself', 'name another node');
    else draft.incoming = [...draft.incoming, { from: id, kind: 'fallback' }];
  }
}

/** What waits for a node also waits for its fallback: the fallback must not stand downstream of it in another way. */
function checkFallbackOrder(
  definitions: ReadonlyMap<string, NodeDefinition>,
  drafts: ReadonlyMap<string, DraftNode>,
  fault: Fault,
): void {
  const extended = new Map<string, DraftNode>();
  for (const draft of drafts.values()) {
    const extra = draft.incoming.flatMap((edge): PlanEdge[] => {
      const definition = definitions.get(edge.from);
      const target = definition === undefined || edge.kind === 'fallback' ? undefined : fallbackNode(definition);
      return target === undefined ? [] : [{ from: target, kind: 'order' }];
    });
    extended.set(draft.id, { ...draft, incoming: [...draft.incoming, ...extra] });
  }
  const sorted = topologicalOrder(extended);
  if ('cycle' in sorted) {
    fault(
      ['nodes', sorted.cycle[0] ?? ''],
      `a fallback waits for what waits for it: ${sorted.cycle.join(' → ')}`,
      'let the fallback use only what comes before the node that may fail',
    );
  }
}
