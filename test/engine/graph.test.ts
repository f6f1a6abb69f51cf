import { describe, expect, it } from 'vitest';
import type { NodeFunction } from '../../src/engine/ports/index.ts';
import { createVirtualClock, sleep } from '../../src/kernel/index.ts';
import { fn, runGraph, statuses } from './support/graph-runs.ts';

describe('branches', () => {
  const nodes = {
    c: { kind: 'condition', input: { n: '$.input.n' }, branches: { big: 'input.n > 10', small: 'input.n > 0' } },
    a: fn({ v: 'big' }, { after: ['c.big'] }),
    b: fn({ v: 'small' }, { after: ['c.small'] }),
    e: fn({ v: 'else' }, { after: ['c.else'] }),
    after_a: fn({ v: '$.nodes.a.output.v' }),
    j: fn({ v: { $first: ['$.nodes.a.output.v', '$.nodes.b.output.v', '$.nodes.e.output.v'] } }, { join: 'any' }),
  };

  it.each([
    [50, 'big', { a: 'succeeded', b: 'skipped', e: 'skipped', after_a: 'succeeded' }],
    [5, 'small', { a: 'skipped', b: 'succeeded', e: 'skipped', after_a: 'skipped' }],
    [-1, 'else', { a: 'skipped', b: 'skipped', e: 'succeeded', after_a: 'skipped' }],
  ])('n = %i takes "%s", skips the others and what hangs on them, and joins', async (n, taken, expected) => {
    const { world, id, done } = await runGraph(
      nodes,
      { v: '$.nodes.j.output.v', branch: '$.nodes.c.branch' },
      { input: { n } },
    );
    expect(done.output).toEqual({ v: taken, branch: taken });
    expect(await statuses(world, id)).toMatchObject(expected);
  });

  it('a rule that cannot be decided on the values at hand fails its node in words', async () => {
    const { done } = await runGraph(nodes, {}, { input: {} });
    expect(done).toMatchObject({ status: 'failed', failure: { kind: 'invalid-input', code: 'condition' } });
  });
});

describe('order', () => {
  it('each node starts as soon as its own inputs are settled, not by layer', async () => {
    const clock = createVirtualClock();
    const starts: string[] = [];
    const slow: NodeFunction = async (input, signal) => {
      starts.push(`${typeof input['name'] === 'string' ? input['name'] : ''}@${clock.monotonicMs()}`);
      await sleep(clock, Number(input['ms']), signal);
      return { ok: true, value: {} };
    };
    const at = (name: string, ms: number, extra: object = {}): object => ({
      kind: 'function',
      function: 'slow',
      input: { name, ms },
      ...extra,
    });
    await runGraph(
      { a: at('a', 100), b: at('b', 1_000), c: at('c', 100, { after: ['a'] }), d: at('d', 1, { after: ['b', 'c'] }) },
      {},
      { functions: { slow }, world: { clock } },
    );
    expect(starts).toEqual(['a@0', 'b@0', 'c@100', 'd@1000']);
  });

  it('max_concurrency bounds the nodes that run at once', async () => {
    const clock = createVirtualClock();
    let open = 0;
    let most = 0;
    const slow: NodeFunction = async (_input, signal) => {
      open += 1;
      most = Math.max(most, open);
      await sleep(clock, 100, signal);
      open -= 1;
      return { ok: true, value: {} };
    };
    const nodes = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`n${at}`, { kind: 'function', function: 'slow' }]),
    );
    const { done } = await runGraph(
      nodes,
      {},
      { functions: { slow }, workflow: { max_concurrency: 2 }, world: { clock } },
    );
    expect([done.status, most]).toEqual(['succeeded', 2]);
  });
});
