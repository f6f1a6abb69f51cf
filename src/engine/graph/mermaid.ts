import type { Plan, PlanEdge, PlanGraph, PlanNode } from './plan.ts';

/** Draws a plan as a Mermaid flowchart: inner workflows and the bodies of maps as boxes within. */
export function drawMermaid(plan: Plan): string {
  const lines = ['flowchart TD'];
  const root = plan.graphs[plan.workflow];
  if (root !== undefined) drawGraph(plan, root, '', '  ', lines);
  return `${lines.join('\n')}\n`;
}

function drawGraph(plan: Plan, graph: PlanGraph, prefix: string, indent: string, lines: string[]): void {
  for (const node of graph.nodes) {
    const id = `${prefix}${node.id}`;
    const inner = innerGraph(plan, node);
    if (inner === undefined) lines.push(`${indent}${id}${shapeOf(node)}`);
    else {
      lines.push(`${indent}subgraph ${id}["${labelOf(node)}"]`);
      drawGraph(plan, inner, `${id}__`, `${indent}  `, lines);
      lines.push(`${indent}end`);
    }
    for (const edge of node.incoming) lines.push(`${indent}${prefix}${edge.from} ${arrowOf(edge)} ${id}`);
  }
}

/** The graph inside of a node. */
export function innerGraph(plan: Plan, node: PlanNode): PlanGraph | undefined {
  const { definition } = node;
  if (definition.kind === 'workflow') return plan.graphs[definition.workflow];
  return definition.kind === 'map' && 'workflow' in definition.body ? plan.graphs[definition.body.workflow] : undefined;
}

function shapeOf(node: PlanNode): string {
  const label = labelOf(node);
  switch (node.definition.kind) {
    case 'condition':
      return `{"${label}"}`;
    case 'function':
      return `("${label}")`;
    case 'map':
      return `[["${label}"]]`;
    default:
      return `["${label}"]`;
  }
}

function labelOf(node: PlanNode): string {
  const { definition } = node;
  const title = definition.title ?? node.id;
  const what =
    definition.kind === 'skill'
      ? definition.skill
      : definition.kind === 'map' && 'skill' in definition.body
        ? `${definition.body.skill} × ≤${definition.max_items}`
        : definition.kind;
  return `${title}<br/>${what}`.replaceAll('"', '#quot;');
}

function arrowOf(edge: PlanEdge): string {
  if (edge.kind === 'branch') return `-- "${edge.branch ?? ''}" -->`;
  if (edge.kind === 'fallback') return '-. "失败时" .->';
  return edge.kind === 'order' ? '-.->' : '-->';
}
