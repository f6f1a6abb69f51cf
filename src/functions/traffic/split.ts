import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';

const branchSchema = z.string().regex(/^[A-Za-z0-9_-]+$/, 'branches are named with letters, digits, _ and -');
const weightSchema = z.number().min(0).max(1_000_000);

const input = z.strictObject({
  /** What stays with its branch: a row's id, a customer, a campaign. */
  key: z.union([z.string().min(1), z.number()]),
  /** Branch → its weight; shares are the weights over their sum. */
  branches: z
    .record(branchSchema, weightSchema)
    .refine((branches) => Object.values(branches).some((weight) => weight > 0), 'at least one weight must be above 0'),
  /** Name of the trial: two trials over the same keys are then independent of each other. */
  trial: z.string().optional(),
});

/**
 * `traffic.split {key, branches, trial?}` → `{branch}`: one of the branches, in proportion to the weights, always the same
 * for the same key. A change of weights moves as few keys as it can: a branch that gains weight only takes keys, one that
 * loses only gives them, and among the others nothing moves (weighted rendezvous hashing). Nothing is stored.
 */
export const splitTraffic: NodeFunction = defineFunction('traffic.split', input, ({ key, branches, trial }) =>
  Promise.resolve(ok({ branch: chooseBranch(String(key), branches, trial ?? '') })),
);

/**
 * Each branch draws an exponential time whose rate is its weight, from a hash of trial, key and branch; the earliest wins,
 * which is branch i with the chance w_i / sum. A branch's draw depends on no other's weight: that is what keeps keys still.
 */
function chooseBranch(key: string, branches: Readonly<Record<string, number>>, trial: string): string {
  let first = { branch: '', at: Number.POSITIVE_INFINITY };
  // Sorted, so that even a tie does not depend on the order in which the branches were written.
  for (const branch of Object.keys(branches).sort()) {
    const weight = branches[branch] ?? 0;
    if (weight === 0) continue;
    const at = -Math.log(uniformOf(trial, key, branch)) / weight;
    if (at < first.at) first = { branch, at };
  }
  return first.branch;
}

/** Evenly between 0 and 1, both excluded: 48 bits of the hash. JSON keeps the three parts apart. */
function uniformOf(trial: string, key: string, branch: string): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([trial, key, branch]))
    .digest();
  return (digest.readUIntBE(0, 6) + 0.5) / 2 ** 48;
}
