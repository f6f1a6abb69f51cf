import fc from 'fast-check';
import { compile, type PlanGraph } from '../../../src/engine/index.ts';
import { define } from './definitions.ts';

/** A node as drawn: whom it hangs on (indexes before its own), and how it will end. */
export interface DrawnNode {
  readonly isCondition: boolean;
  readonly takes: 'yes' | 'no' | 'else';
  readonly fails: boolean;
  readonly join: boolean;
  readonly deps: readonly { readonly back: number; readonly as: 'data' | 'order' | 'yes' | 'no' }[];
}

export function drawnGraphs(maxNodes: number): fc.Arbitrary<readonly DrawnNode[]> {
  const node: fc.Arbitrary<DrawnNode> = fc.record({
    isCondition: fc.integer({ min: 0, max: 7 }).map((roll) => roll === 0),
    takes: fc.constantFrom('yes' as const, 'no' as const, 'else' as const),
    fails: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
    join: fc.integer({ min: 0, max: 4 }).map((roll) => roll === 0),
    deps: fc.array(
      fc.record({
        back: fc.integer({ min: 1, max: 12 }),
        as: fc.constantFrom('data' as const, 'order' as const, 'order' as const, 'yes' as const, 'no' as const),
      }),
      { maxLength: 4 },
    ),
  });
  return fc.array(node, { minLength: 1, maxLength: maxNodes, size: 'max' });
}

/** The nodes of a workflow file; ids `n0`, `n1` … */
export function nodesOf(drawn: readonly DrawnNode[], joins: ReadonlySet<string> = new Set()): Record<string, object> {
  const nodes: Record<string, object> = {};
  for (const [at, node] of drawn.entries()) {
    const input: Record<string, string> = {};
    const after = new Set<string>();
    for (const dep of node.deps) {
      const from = at - dep.back;
      if (from < 0) continue;
      if (dep.as === 'data') input[`v${from}`] = `$.nodes.n${from}.output`;
      else if (drawn[from]?.isCondition === true && dep.as !== 'order') after.add(`n${from}.${dep.as}`);
      else after.add(`n${from}`);
    }
    const common = { input, after: [...after], ...(node.join || joins.has(`n${at}`) ? { join: 'any' } : {}) };
    nodes[`n${at}`] = node.isCondition
      ? {
          kind: 'condition',
          branches: { yes: node.takes === 'yes' ? 'true' : 'false', no: node.takes === 'no' ? 'true' : 'false' },
          ...common,
        }
      : { kind: 'function', function: node.fails ? 'failing' : 'echo', on_failure: 'skip', ...common };
  }
  return nodes;
}

/** Compiles; where branches meet without a join, one is declared, as an author would. */
export function compileDrawn(drawn: readonly DrawnNode[]): {
  readonly graph: PlanGraph;
  readonly nodes: Record<string, object>;
} {
  const joins = new Set<string>();
  for (;;) {
    const nodes = nodesOf(drawn, joins);
    const result = compile(define({ workflows: [{ workflow: 'w', input: {}, nodes, output: {} }] }));
    if (result.ok) {
      const graph = result.value.plans.get('w')?.plan.graphs['w'];
      if (graph === undefined) throw new Error('no graph');
      return { graph, nodes };
    }
    for (const fault of result.failure) {
      if (!fault.what.includes('meet here')) throw new Error(fault.what);
      joins.add(String(fault.path[1]));
    }
  }
}
