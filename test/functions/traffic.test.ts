import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFunctions, createSharpPictureWorker } from '../../src/functions/index.ts';
import type { Json } from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';

const split = createFunctions({
  redLines: { rules: [], avoid: [] },
  pictures: createSharpPictureWorker(),
  media: createMemorySpool(),
}).get('traffic.split')!;

type Weights = Readonly<Record<string, number>>;

async function branchOf(key: Json, branches: Weights, trial?: string): Promise<string> {
  const made = await split({ key, branches, ...(trial === undefined ? {} : { trial }) }, new AbortController().signal);
  if (!made.ok) throw new Error(made.failure.message);
  const { branch } = made.value;
  if (typeof branch !== 'string') throw new Error('no branch');
  return branch;
}

const rows = (count: number, prefix = 'rec'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const branchesOf = (keys: readonly string[], weights: Weights, trial?: string): Promise<readonly string[]> =>
  Promise.all(keys.map((key) => branchOf(key, weights, trial)));

const weightsLaw = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  fc.oneof(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0.01, max: 10, noNaN: true })),
  { minKeys: 2, maxKeys: 5, noNullPrototype: true },
);

describe('traffic.split', () => {
  it('gives each branch its share of the keys, whatever the weights and the names of the keys', async () => {
    await fc.assert(
      fc.asyncProperty(weightsLaw, fc.string({ maxLength: 6 }), async (weights, prefix) => {
        const count = 1_500;
        const chosen = await branchesOf(rows(count, prefix), weights);
        const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
        for (const [branch, weight] of Object.entries(weights)) {
          const share = weight / sum;
          const seen = chosen.filter((each) => each === branch).length / count;
          // Five standard deviations, and one key for the smallest shares.
          expect(Math.abs(seen - share)).toBeLessThan(5 * Math.sqrt((share * (1 - share)) / count) + 1 / count);
        }
      }),
      { numRuns: 10, seed: 5 },
    );
  });

  it('gives the same key the same branch, in whatever order the branches stand', async () => {
    await fc.assert(
      fc.asyncProperty(weightsLaw, fc.string({ minLength: 1 }), async (weights, key) => {
        const turned = Object.fromEntries(Object.entries(weights).toReversed());
        expect(await branchOf(key, turned)).toBe(await branchOf(key, weights));
      }),
      { seed: 5 },
    );
  });

  it('moves keys only towards the branch that gained weight, and only as many as it must', async () => {
    const keys = rows(4_000);
    const before = await branchesOf(keys, { old: 60, other: 20, new: 20 });
    const after = await branchesOf(keys, { old: 60, other: 20, new: 80 });
    const moved = keys.filter((_, at) => before[at] !== after[at]);
    expect(new Set(keys.flatMap((_, at) => (before[at] === after[at] ? [] : [after[at]])))).toEqual(new Set(['new']));
    // From 20 % to 50 %: three keys of ten move, where hashing into slots would move about half of them.
    expect(Math.abs(moved.length / keys.length - 0.3)).toBeLessThan(0.04);
  });

  it('takes keys for a new branch from all others, and gives them back when it goes', async () => {
    const keys = rows(2_000);
    const before = await branchesOf(keys, { a: 1, b: 1 });
    const after = await branchesOf(keys, { a: 1, b: 1, c: 1 });
    for (const [at, branch] of after.entries()) if (branch !== 'c') expect(branch).toBe(before[at]);
    expect(await branchesOf(keys, { a: 1, b: 1, c: 0 })).toEqual(before);
  });

  it('is independent from one trial to another', async () => {
    const keys = rows(2_000);
    const halves = { a: 1, b: 1 };
    const [first, second] = [await branchesOf(keys, halves, 'one'), await branchesOf(keys, halves, 'two')];
    const same = first.filter((branch, at) => branch === second[at]).length / keys.length;
    expect(Math.abs(same - 0.5)).toBeLessThan(0.06);
  });

  it('stays as it is from release to release: rows of a running trial keep their branches', async () => {
    expect(await branchesOf(rows(12), { old: 80, new: 20 }, 'spring')).toEqual(
      'old old old old new old new old old old new new'.split(' '),
    );
  });

  it.each([
    ['no branch', { key: 'x', branches: {} }],
    ['weights of nothing', { key: 'x', branches: { a: 0 } }],
    ['a negative weight', { key: 'x', branches: { a: -1, b: 2 } }],
    ['no key', { branches: { a: 1 } }],
    ['an empty key', { key: '', branches: { a: 1 } }],
    ['a branch that cannot be a port', { key: 'x', branches: { 'a.b': 1 } }],
  ])('refuses %s as a mistake of the workflow', async (_what, bad) => {
    const made = await split(bad, new AbortController().signal);
    expect(made).toMatchObject({ ok: false, failure: { kind: 'configuration', code: 'function-input' } });
  });
});
