import { expect, it } from 'vitest';
import { simulateSeed } from './simulate.ts';

it('pays once, loses nothing, ends everything, over crashes, lost answers and cancels (40 seeds)', async () => {
  let crashes = 0;
  for (let seed = 1; seed <= 40; seed += 1) {
    const report = await simulateSeed(seed);
    console.log(JSON.stringify(report));
    crashes += report.crashes;
    expect(report.violations, `seed ${seed}`).toEqual([]);
  }
  expect(crashes).toBeGreaterThan(12);
}, 300_000);
