import { it } from 'vitest';
import { simulateSeed } from './simulate.ts';
it('d', async () => {
  const seed = Number(process.env['SEED'] ?? 6);
  const report = await simulateSeed(seed, { debug: true });
  console.log(JSON.stringify(report, undefined, 1));
}, 300_000);
