import { resolve } from 'node:path';
import type { LoadedConfig } from '../../config/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import { type CommandInput, type CommandIo, exitCodes, type RunCommand, textFlag } from '../command.ts';
import { openConfig } from '../data.ts';
import { readInputFile } from '../workflow-input.ts';

/** One workflow without a table. What it would do is told without the engine; doing it is in `run/`. */
export const runWorkflow: RunCommand = async (input, io) => {
  const name = input.positionals[0] ?? '';
  const isDry = input.flags['dry-run'] === true;
  const file = textFlag(input, 'input');
  if (file === undefined && !isDry) {
    io.err('--input FILE is missing; "{}" in it is an empty input');
    return exitCodes.usage;
  }
  const config = await openConfig(io);
  if (!config.ok) return config.failure;
  const { workflows } = config.value.definitions;
  if (!workflows.has(name)) {
    io.err(`no workflow "${name}"; there are: ${[...workflows.keys()].sort().join(' ')}`);
    return exitCodes.usage;
  }
  const values = file === undefined ? undefined : await readInputFile(resolve(file));
  if (values?.ok === false) {
    io.err(values.failure);
    return exitCodes.usage;
  }
  if (isDry) return await dryRun({ name, config: config.value, values: values?.value ?? {} }, input, io);
  const { runForReal } = await import('../run/run-for-real.ts');
  return await runForReal({ name, config: config.value, values: values?.value ?? {}, file: file ?? '' }, input, io);
};

interface Wanted {
  readonly name: string;
  readonly config: LoadedConfig;
  readonly values: JsonObject;
}

async function dryRun({ name, config, values }: Wanted, input: CommandInput, io: CommandIo): Promise<number> {
  const { compile, describePlan } = await import('../../engine/index.ts');
  const compiled = compile(config.definitions);
  const plan = compiled.ok ? compiled.value.plans.get(name) : undefined;
  if (plan === undefined) {
    io.err(`"${name}" does not compile; see "gridloom validate"`);
    return exitCodes.configuration;
  }
  const description = describePlan(plan, config.settings, values);
  if (input.json) {
    const { estimatedCnyMicros, mostCnyMicros, ...rest } = description;
    io.out(JSON.stringify({ ...rest, estimated_cny: yuan(estimatedCnyMicros), most_cny: yuan(mostCnyMicros) }));
    return exitCodes.done;
  }
  const { renderPlan } = await import('../render/plan-view.ts');
  for (const line of renderPlan(description)) io.out(line);
  return exitCodes.done;
}

function yuan(micros: number): string {
  return (micros / 1e6).toFixed(4);
}
