import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { LoadedConfig } from '../../src/config/index.ts';
import { noViolations } from './checks.ts';
import { plantedBugs } from './planted-bugs.ts';
import { runSeed } from './run-seed.ts';
import { readSimConfig } from './world.ts';

/**
 * The whole product under a virtual clock against a moody world, killed again and again. `npm run simulate` runs as many
 * seeds as one likes; these are the ones that every change has to pass.
 */
const directory = join(import.meta.dirname, '..', '..');
const seeds = 50;
const limitMs = 400_000;

const lastLine = z.object({
  seeds: z.number(),
  failed_seeds: z.array(z.number()),
  rows: z.number(),
  commands: z.number(),
  raced_commands: z.number(),
  crashes: z.number(),
  faults: z.number(),
  submits: z.number(),
  violations: z.record(z.string(), z.number()),
  virtual_hours: z.number(),
  wall_ms: z.number(),
});

let config: LoadedConfig;
beforeAll(async () => {
  config = await readSimConfig(directory);
});

describe('the whole product in a moody world', () => {
  it(
    `pays once, loses nothing, is never silent, in ${seeds} worlds`,
    async () => {
      const args = [join(import.meta.dirname, 'main.ts'), '--seeds', String(seeds), '--json'];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory }).catch((error: unknown) =>
        z.object({ stdout: z.string() }).parse(error),
      );
      const report = lastLine.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''));
      expect(report, stdout).toMatchObject({ seeds, failed_seeds: [], violations: noViolations() });
      expect(report.crashes, 'the worlds were rough').toBeGreaterThan(seeds);
      expect(report.faults).toBeGreaterThan(seeds * 50);
      expect(report.submits).toBeGreaterThan(seeds * 5);
    },
    limitMs,
  );

  /** 1003 draws presentations: their bytes must not know what day it is. */
  it.each([7, 1003])(
    'is the same world for seed %i, to the last byte of its event log',
    async (seed) => {
      const first = await runSeed(seed, { config });
      expect(await runSeed(seed, { config })).toEqual(first);
      expect((await runSeed(seed + 1, { config })).eventsHash).not.toBe(first.eventsHash);
    },
    60_000,
  );
});

describe('a planted bug is caught:', () => {
  it.each(plantedBugs)(
    '$name',
    async ({ plant, caughtAs }) => {
      let caught = false;
      for (let seed = 1; seed <= 50 && !caught; seed += 1)
        caught = (await runSeed(seed, { config, plant })).violations[caughtAs] > 0;
      expect(caught).toBe(true);
    },
    limitMs,
  );
});
