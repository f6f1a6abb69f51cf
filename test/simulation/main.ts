import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { noViolations, type Violations } from './checks.ts';
import { runSeed, type SeedReport } from './run-seed.ts';
import { readSimConfig } from './world.ts';

/** `npm run simulate -- --seeds N [--first S] [--json]`: contract §1 and §4. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { seeds: { type: 'string' }, first: { type: 'string' }, json: { type: 'boolean' } },
  });
  const seeds = Number(values.seeds ?? '20');
  const first = Number(values.first ?? '1');
  if (!Number.isSafeInteger(seeds) || seeds < 1 || !Number.isSafeInteger(first) || first < 0) {
    process.stderr.write('--seeds takes a whole number from 1 on, --first one from 0 on\n');
    return 2;
  }
  const startedMs = performance.now();
  const reports =
    seeds === 1
      ? [await runSeed(first, { config: await readSimConfig(process.cwd()) })]
      : await runMany(first, seeds, values.json === true);
  const failed = reports.filter((report) => report.faults.length > 0).sort((left, right) => left.seed - right.seed);
  for (const report of failed.slice(0, 20)) {
    process.stdout.write(`seed ${report.seed} fails; alone: npm run simulate -- --seeds 1 --first ${report.seed}\n`);
    for (const fault of report.faults.slice(0, 10)) process.stdout.write(`  ${fault}\n`);
  }
  const line = JSON.stringify({ ...sum(reports), wall_ms: Math.round(performance.now() - startedMs) });
  process.stdout.write(`${line}\n`);
  return failed.length === 0 ? 0 : 1;
}

function sum(reports: readonly SeedReport[]) {
  const violations = noViolations();
  const total = (read: (report: SeedReport) => number): number =>
    reports.reduce((value, report) => value + read(report), 0);
  for (const report of reports) {
    for (const kind of Object.keys(violations) as (keyof Violations)[]) violations[kind] += report.violations[kind];
  }
  return {
    seeds: reports.length,
    failed_seeds: reports
      .filter((report) => report.faults.length > 0)
      .map((report) => report.seed)
      .sort((left, right) => left - right),
    rows: total((report) => report.rows),
    commands: total((report) => report.commands),
    raced_commands: total((report) => report.racedCommands),
    crashes: total((report) => report.crashes),
    faults: total((report) => report.troubles),
    submits: total((report) => report.submits),
    violations,
    virtual_hours: Math.round(total((report) => report.virtualMs) / 3_600_000),
  };
}

/** A killed life leaves promises that nobody ever settles: a thread is ended before they fill the memory. */
const seedsPerThread = 100;

/** Spreads the seeds over the machine's cores; each seed runs alone in its thread. */
async function runMany(first: number, seeds: number, isQuiet: boolean): Promise<readonly SeedReport[]> {
  const reports: SeedReport[] = [];
  let next = first;
  const runSome = async (): Promise<void> => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { directory: process.cwd() } });
    let left = seedsPerThread;
    await new Promise<void>((resolve, reject) => {
      const give = (): void => {
        left -= 1;
        if (next < first + seeds && left >= 0) worker.postMessage(next++);
        else void worker.terminate().then(() => resolve());
      };
      worker.on('message', (report: SeedReport) => {
        reports.push(report);
        if (!isQuiet && report.faults.length > 0) process.stderr.write(`seed ${report.seed}: ${report.faults[0]}\n`);
        if (!isQuiet && reports.length % 10 === 0) process.stderr.write(`${reports.length}/${seeds}\n`);
        give();
      });
      worker.on('error', reject);
      give();
    });
  };
  const threads = Math.min(availableParallelism(), seeds);
  await Promise.all(
    Array.from({ length: threads }, async () => {
      while (next < first + seeds) await runSome();
    }),
  );
  return reports;
}

if (isMainThread) process.exitCode = await main(process.argv.slice(2));
else {
  const { directory } = workerData as { directory: string };
  const config = await readSimConfig(directory);
  parentPort?.on('message', (seed: number) => {
    void runSeed(seed, { config }).then((report) => parentPort?.postMessage(report));
  });
}
