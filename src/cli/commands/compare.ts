import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openLoneEngine } from '../../app/working.ts';
import { compile, describePlan } from '../../engine/index.ts';
import { renderComparison } from '../../functions/index.ts';
import { formatMicros, type JsonObject } from '../../kernel/index.ts';
import { type CommandInput, type CommandIo, exitCodes, type RunCommand, textFlag } from '../command.ts';
import { runVersions, type VersionRun } from '../compare/run-versions.ts';
import { readVersions, type Versions, versionWorkflows } from '../compare/versions.ts';
import { openConfig } from '../data.ts';
import { onInterrupt } from '../interrupt.ts';
import { folderOf, readInputFile, takeFilesIn } from '../workflow-input.ts';

interface Case {
  readonly file: string;
  readonly values: JsonObject;
}

/** Two versions of a prompt on the same inputs, side by side in one page. The price is told first; only `--yes` spends it. */
export const runCompare: RunCommand = async (input, io) => {
  const skill = input.positionals[0] ?? '';
  const draft = textFlag(input, 'with');
  const files = (textFlag(input, 'input') ?? '').split(',').filter((file) => file !== '');
  if (draft === undefined || files.length === 0) {
    io.err('--with FILE (the other version of the prompt) and --input FILE are needed');
    return exitCodes.usage;
  }
  const config = await openConfig(io);
  if (!config.ok) return config.failure;
  const versions = await readVersions(config.value, skill, resolve(draft));
  if (!versions.ok) {
    io.err(versions.failure);
    return exitCodes.usage;
  }
  const cases: Case[] = [];
  for (const file of files.map((each) => resolve(each))) {
    const values = await readInputFile(file);
    if (!values.ok) {
      io.err(values.failure);
      return exitCodes.usage;
    }
    cases.push({ file, values: values.value });
  }
  if (!tellPrice(versions.value, cases, io)) return exitCodes.configuration;
  if (input.flags['yes'] !== true) {
    io.out('nobody was called; add --yes to spend it');
    return exitCodes.done;
  }
  return await compareForReal({ skill, versions: versions.value, cases }, input, io);
};

/** What both versions can cost over all inputs; false when they do not compile, which has then been told. */
function tellPrice({ config }: Versions, cases: readonly Case[], io: CommandIo): boolean {
  const compiled = compile(config.definitions);
  if (!compiled.ok) {
    for (const fault of compiled.failure) io.err(`${fault.what}  ${fault.advice}`);
    return false;
  }
  const plans = versionWorkflows.flatMap((name) => compiled.value.plans.get(name) ?? []);
  const all = cases.flatMap(({ values }) => plans.map((plan) => describePlan(plan, config.settings, values)));
  const sum = (pick: (each: (typeof all)[number]) => number): number => all.reduce((so, each) => so + pick(each), 0);
  io.out(
    `2 versions on ${cases.length} input${cases.length === 1 ? '' : 's'}: at most ${sum((plan) => plan.mostPaidCalls)} paid calls, ${formatMicros(
      sum((plan) => plan.mostCnyMicros),
      4,
    )} CNY; estimated ${formatMicros(
      sum((plan) => plan.estimatedCnyMicros),
      4,
    )} CNY if every first try succeeds`,
  );
  const unpriced = new Set(all.flatMap((plan) => plan.unpriced));
  if (unpriced.size > 0) io.out(`without a price, counted as 0: ${[...unpriced].join(', ')}`);
  return true;
}

interface Wanted {
  readonly skill: string;
  readonly versions: Versions;
  readonly cases: readonly Case[];
}

async function compareForReal({ skill, versions, cases }: Wanted, input: CommandInput, io: CommandIo): Promise<number> {
  const alone = await openLoneEngine(io, versions.config);
  if (!alone.ok) {
    for (const line of alone.failure.lines) io.err(line);
    return alone.failure.exitCode;
  }
  const { ports } = alone.value;
  const leave = new AbortController();
  const stopListening = onInterrupt(
    () => leave.abort(),
    () => process.exit(exitCodes.failed),
  );
  const generation = input.flags['anew'] === true ? Math.floor(ports.clock.nowMs() / 1_000) : 0;
  const rows: { input: string; runs: readonly VersionRun[] }[] = [];
  try {
    for (const { file, values } of cases) {
      const taken = await takeFilesIn(values, {
        directory: folderOf(file),
        spool: ports.spool,
        maxBytes: versions.config.settings.transfer.max_bytes,
        signal: leave.signal,
      });
      if (!taken.ok) {
        io.err(taken.failure);
        return exitCodes.usage;
      }
      const runs = await runVersions(alone.value, { skill, values: taken.value, generation }, io, leave.signal);
      rows.push({ input: `${file}\n${JSON.stringify(values, undefined, 2)}`, runs });
      if (leave.signal.aborted) break;
    }
    const page = resolve(textFlag(input, 'out') ?? `compare-${skill}.html`);
    const html = await renderComparison({ title: `${skill}: two prompts`, versions: versions.shown, rows }, (file) =>
      bytesOf(ports.spool.open(file, 0, file.sizeBytes)),
    );
    await writeFile(page, html);
    const isGood = rows.every((row) => row.runs.every((run) => run.status === 'succeeded'));
    if (input.json) io.out(JSON.stringify({ ok: isGood, page, rows }));
    else tellRows(page, rows, io);
    return isGood ? exitCodes.done : exitCodes.failed;
  } finally {
    stopListening();
    await alone.value.close();
  }
}

function tellRows(page: string, rows: readonly { readonly runs: readonly VersionRun[] }[], io: CommandIo): void {
  for (const [index, row] of rows.entries())
    io.out(`input ${index + 1}  ${row.runs.map((run) => `${run.status} ${run.costCny} CNY`).join('  |  ')}`);
  io.out(`side by side: ${page}`);
}

/** A file that is no longer in the spool is said so on the page. */
async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    const parts: Uint8Array[] = [];
    for await (const part of stream) parts.push(part);
    return Buffer.concat(parts);
  } catch {
    return undefined;
  }
}
