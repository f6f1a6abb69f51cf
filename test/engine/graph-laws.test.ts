import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile, type PlanEdge, type PlanGraph } from '../../src/engine/index.ts';
import { createLivePlan, type LiveGraph } from '../../src/engine/graph/live.ts';
import { adopt, decide, type NodeResult } from '../../src/engine/run/decide.ts';
import { createFrameState, hasEnded } from '../../src/engine/run/frame.ts';
import { createSeededRandom, createVirtualClock } from '../../src/kernel/index.ts';
import { define } from './support/definitions.ts';
import { compileDrawn, type DrawnNode, drawnGraphs, nodesOf } from './support/random-graph.ts';
import { createWorld, echo, type World } from './support/world.ts';

interface Outcome {
  readonly statuses: Readonly<Record<string, string>>;
  readonly starts: readonly string[];
  readonly violations: readonly string[];
}

function live(graph: PlanGraph): LiveGraph {
  return createLivePlan('x', { format: 1, workflow: 'w', graphs: { w: graph }, skills: {} }).graph('w');
}

/** Runs the pure machine, ending nodes in an order drawn from the seed. */
function play(graph: PlanGraph, drawn: readonly DrawnNode[], seed: number): Outcome {
  const random = createSeededRandom(seed);
  const frame = createFrameState(live(graph), { input: {}, params: {} });
  const violations: string[] = [];
  const starts: string[] = [];
  const running: string[] = [];
  let ends = 0;
  const take = (event: Parameters<typeof decide>[1]): void => {
    const decision = decide(frame, event, 0);
    adopt(frame, decision);
    for (const id of decision.starts) {
      for (const edge of frame.graph.nodes.get(id)?.incoming ?? []) {
        const from = frame.nodes.get(edge.from);
        if (from === undefined || !hasEnded(from.status))
          violations.push(`${id} started before ${edge.from} had ended`);
      }
      if (starts.includes(id)) violations.push(`${id} started twice`);
      starts.push(id);
      running.push(id);
    }
    if (decision.end !== undefined) ends += 1;
  };
  take({ kind: 'opened' });
  while (running.length > 0) {
    const [id] = running.splice(Math.floor(random.next() * running.length), 1);
    take({ kind: 'finished', id: id ?? '', result: resultOf(drawn[Number((id ?? '').slice(1))]) });
  }
  if (ends !== 1) violations.push(`the graph ended ${ends} times`);
  return { statuses: Object.fromEntries([...frame.nodes].map(([id, node]) => [id, node.status])), starts, violations };
}

function resultOf(node: DrawnNode | undefined): NodeResult {
  if (node?.isCondition === true) return { kind: 'succeeded', output: {}, branch: node.takes };
  if (node?.fails === true) return { kind: 'failed', failure: { kind: 'internal', code: 'x', message: 'x' } };
  return { kind: 'succeeded', output: {} };
}

/** The same by another way: one walk in topological order, without events. */
function expectedStatuses(graph: PlanGraph, drawn: readonly DrawnNode[]): Readonly<Record<string, string>> {
  const ended = new Map<string, { readonly status: string; readonly isFailure: boolean }>();
  const arrives = (edge: PlanEdge): boolean => {
    const from = ended.get(edge.from);
    if (from?.status === 'skipped') return from.isFailure && edge.kind !== 'branch';
    return edge.kind !== 'branch' || drawn[Number(edge.from.slice(1))]?.takes === edge.branch;
  };
  for (const node of graph.nodes) {
    const arrived = node.incoming.filter(arrives).length;
    const runs =
      node.definition.join === 'any' ? arrived > 0 || node.incoming.length === 0 : arrived === node.incoming.length;
    const own = drawn[Number(node.id.slice(1))];
    const isFailure = runs && own?.isCondition === false && own.fails;
    ended.set(node.id, { status: runs && !isFailure ? 'succeeded' : 'skipped', isFailure });
  }
  return Object.fromEntries([...ended].map(([id, end]) => [id, end.status]));
}

/** The edges as written, before any was dropped. */
function unreduced(graph: PlanGraph, nodes: Readonly<Record<string, object>>): PlanGraph {
  return {
    ...graph,
    nodes: graph.nodes.map((node) => {
      const after = (nodes[node.id] as { readonly after: readonly string[] }).after;
      const data = node.incoming.filter((edge) => edge.kind === 'data');
      const written = after.map((text): PlanEdge => {
        const [from = '', branch] = text.split('.');
        return branch === undefined ? { from, kind: 'order' } : { from, kind: 'branch', branch };
      });
      return { ...node, incoming: [...data, ...written] };
    }),
  };
}

describe('laws of graphs up to 300 nodes', () => {
  it('order is respected, each node starts at most once, joins are right, the end comes once, whoever ends first', () => {
    fc.assert(
      fc.property(drawnGraphs(300), fc.integer({ min: 1, max: 1_000 }), (drawn, seed) => {
        const { graph } = compileDrawn(drawn);
        const outcome = play(graph, drawn, seed);
        expect(outcome.violations).toEqual([]);
        expect(outcome.statuses).toEqual(expectedStatuses(graph, drawn));
      }),
      { numRuns: 120 },
    );
  }, 120_000);

  it('reduction changes no outcome', () => {
    fc.assert(
      fc.property(drawnGraphs(120), fc.integer({ min: 1, max: 1_000 }), (drawn, seed) => {
        const { graph, nodes } = compileDrawn(drawn);
        expect(play(graph, drawn, seed).statuses).toEqual(play(unreduced(graph, nodes), drawn, seed + 1).statuses);
      }),
      { numRuns: 120 },
    );
  }, 120_000);

  it('a cycle is always found, and its path is one', () => {
    fc.assert(
      fc.property(drawnGraphs(300), fc.nat(), fc.nat(), (drawn, left, right) => {
        const low = Math.min(left % drawn.length, right % drawn.length);
        const high = Math.max(left % drawn.length, right % drawn.length);
        const nodes: Record<string, { after?: readonly string[] }> = nodesOf(drawn);
        // A chain from low to high, and the edge that closes it.
        for (let at = low + 1; at <= high; at += 1)
          nodes[`n${at}`] = {
            ...nodes[`n${at}`],
            after: [...new Set([...(nodes[`n${at}`]?.after ?? []), `n${at - 1}`])],
          };
        nodes[`n${low}`] = {
          ...nodes[`n${low}`],
          after: [...new Set([...(nodes[`n${low}`]?.after ?? []), `n${high}`])],
        };
        const result = compile(define({ workflows: [{ workflow: 'w', input: {}, nodes, output: {} }] }));
        const told = result.ok
          ? undefined
          : result.failure.find((fault) => fault.what.startsWith('nodes wait for each other'));
        const path = /: (.*)$/.exec(told?.what ?? '')?.[1]?.split(' → ') ?? [];
        expect(path.length).toBeGreaterThan(1);
        expect(path[0]).toBe(path.at(-1));
        for (const [at, id] of path.slice(1).entries()) {
          const written = JSON.stringify(nodes[id]);
          expect(written).toMatch(new RegExp(`"(\\$\\.nodes\\.)?${path[at] ?? ''}["\\.]`));
        }
      }),
      { numRuns: 100 },
    );
  }, 120_000);
});

describe('random graphs, failures and a kill at each commit', () => {
  async function world(
    drawn: readonly DrawnNode[],
    killAt: number,
  ): Promise<{ readonly world: World; readonly kills: { count: number; commits: number } }> {
    const { nodes } = compileDrawn(drawn);
    const output = Object.fromEntries(Object.keys(nodes).map((id) => [id, `$.nodes.${id}.output`]));
    const kills = { count: 0, commits: 0 };
    const made: { world?: World } = {};
    made.world = await createWorld({
      definitions: define({ workflows: [{ workflow: 'w', input: {}, nodes, output }] }),
      clock: createVirtualClock(),
      functions: {
        echo,
        failing: () => Promise.resolve({ ok: false, failure: { kind: 'internal', code: 'x', message: 'x' } }),
      },
      change: (deps) => ({
        store: new Proxy(deps.store, {
          get: (target, name) => {
            if (name !== 'commit') return Reflect.get(target, name) as unknown;
            return async (commands: Parameters<typeof deps.store.commit>[0]) => {
              kills.commits += 1;
              if (kills.commits === killAt && made.world !== undefined) {
                kills.count += 1;
                // Half of the time the commit still reaches the disk, and nobody hears of it.
                if (killAt % 2 === 0) await deps.store.commit(commands);
                made.world.kill();
                await new Promise<void>(() => undefined);
                return;
              }
              await deps.store.commit(commands);
            };
          },
        }),
      }),
    });
    return { world: made.world, kills };
  }

  async function finalState(
    drawn: readonly DrawnNode[],
    killAt: number,
  ): Promise<{ readonly state: unknown; readonly commits: number; readonly kills: number }> {
    const it = await world(drawn, killAt);
    const request = { workflow: 'w', input: {}, sourceRef: 's', labels: {}, generation: 1, idempotencyKey: 'k' };
    void it.world.engine.submit(request).catch(() => undefined);
    await it.world.clock.advance(100);
    if (it.kills.count > 0) {
      await it.world.restart();
      void it.world.engine.submit(request).catch(() => undefined);
      await it.world.clock.advance(100);
    }
    const stored = await it.world.store.executionByKey('k');
    const done = stored === undefined ? undefined : await it.world.settle(stored.id);
    const nodes = stored === undefined ? [] : await it.world.store.nodes(stored.id);
    return {
      state: {
        status: done?.status,
        output: done?.output,
        nodes: Object.fromEntries(nodes.map((node) => [node.path, node.status])),
      },
      commits: it.kills.commits,
      kills: it.kills.count,
    };
  }

  /** Killed at the given commits, one run each: the end is that of the calm run. */
  async function expectSameEnd(
    drawn: readonly DrawnNode[],
    killsAt: (commits: number) => readonly number[],
  ): Promise<void> {
    const calm = await finalState(drawn, Number.POSITIVE_INFINITY);
    expect(calm.state).toMatchObject({ status: 'succeeded' });
    for (const killAt of killsAt(calm.commits)) {
      const killed = await finalState(drawn, killAt);
      expect(killed.kills, `commit ${killAt} of ${calm.commits} came`).toBe(1);
      expect(killed.state, `killed at commit ${killAt} of ${calm.commits}`).toEqual(calm.state);
    }
  }

  it('the same final state as without the kill, at every commit', async () => {
    await fc.assert(
      fc.asyncProperty(drawnGraphs(14), async (drawn) => {
        await expectSameEnd(drawn, (commits) => Array.from({ length: commits - 1 }, (_, at) => at + 2));
      }),
      { numRuns: 8 },
    );
  }, 180_000);

  it('the same in graphs of up to 300 nodes, at a moment drawn', async () => {
    await fc.assert(
      fc.asyncProperty(drawnGraphs(300), fc.nat(), async (drawn, moment) => {
        await expectSameEnd(drawn, (commits) => [2 + (moment % Math.max(1, commits - 1))]);
      }),
      { numRuns: 12 },
    );
  }, 180_000);
});
