import { availableParallelism, loadavg } from 'node:os';

/**
 * Benchmarks, each with its limit and its peers in the same run: `npm run bench -- engine|intake|transfer|inflight|scale|growth`.
 * `--json` prints one JSON object as the last line; `--runs N` changes the number of runs whose medians are shown.
 */
const benches = {
  engine: async (options) => (await import('./engine.mjs')).benchEngine(options),
  intake: async (options) => (await import('./intake.mjs')).benchIntake(options),
  transfer: async (options) => (await import('./transfer.mjs')).benchTransfer(options),
  scale: async (options) => (await import('./scale.mjs')).benchScale(options),
  inflight: async (options) => (await import('./inflight.mjs')).benchInflight(options),
  growth: async (options) => (await import('./growth.mjs')).benchGrowth(options),
};

const [name, ...flags] = process.argv.slice(2);
if (name === undefined || !Object.hasOwn(benches, name)) {
  console.error(`Usage: npm run bench -- ${Object.keys(benches).join('|')} [--json] [--runs N]`);
  process.exit(2);
}
const isJson = flags.includes('--json');
const runsAt = flags.indexOf('--runs');
const runs = runsAt === -1 ? undefined : Number.parseInt(flags[runsAt + 1] ?? '', 10);
const say = (line) => console.error(line);

try {
  // Of the minute before: a wall time says something only where others left the processors alone.
  const loadBefore = loadavg()[0];
  const measured = await benches[name]({ ...(Number.isInteger(runs) ? { runs } : {}), say });
  const machine = { processors: availableParallelism(), load_before: loadBefore, load_after: loadavg()[0] };
  const figures = { ...measured, machine };
  if (isJson) console.log(JSON.stringify(figures));
  else print(figures);
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}

function print(figures) {
  for (const part of ['machine', 'product', 'limit', 'ratios']) {
    console.log(`\n${part}`);
    console.table(figures[part]);
  }
  console.log('\npeers');
  console.table(figures.peers);
  if (figures.goals === undefined) return;
  console.log('\ngoals');
  console.table(figures.goals);
}
