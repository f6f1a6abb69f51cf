import { type Artifact, isArtifact } from '../../contract/index.ts';
import type { Engine, ExecutionRecord } from '../../engine/ports/index.ts';
import type { LivePorts, LoneEngine } from '../../app/working.ts';
import type { JsonObject } from '../../kernel/index.ts';
import type { CommandIo } from '../command.ts';
import { costCny } from '../render/execution-view.ts';
import { waitForEnd } from '../run/wait-for-end.ts';
import { versionWorkflows } from './versions.ts';

/** One version's run, as the page shows it. */
export interface VersionRun {
  readonly status: string;
  readonly costCny: string;
  readonly seconds: number;
  readonly outputs: readonly { readonly name: string; readonly text?: string; readonly files?: readonly Artifact[] }[];
  readonly failure?: string;
}

interface Job {
  readonly skill: string;
  readonly values: JsonObject;
  /** What was bought for an equal comparison is used again, unless this differs. */
  readonly generation: number;
}

/** Runs both versions on one input, side by side. `leave` ends the waiting; what was bought stays booked. */
export async function runVersions(
  { engine, ports }: Pick<LoneEngine, 'engine' | 'ports'>,
  job: Job,
  io: CommandIo,
  leave: AbortSignal,
): Promise<readonly VersionRun[]> {
  return await Promise.all(
    versionWorkflows.map(async (workflow) => await runVersion(engine, ports, workflow, job, io, leave)),
  );
}

async function runVersion(
  engine: Engine,
  ports: LivePorts,
  workflow: string,
  { skill, values, generation }: Job,
  io: CommandIo,
  leave: AbortSignal,
): Promise<VersionRun> {
  const submitted = await engine.submit({
    workflow,
    input: values,
    sourceRef: `cli:compare-${skill}-${workflow}`,
    labels: {},
    generation,
    idempotencyKey: `cli:${ports.ids.uuid()}`,
  });
  if (!submitted.ok)
    return { status: 'refused', costCny: '0.0000', seconds: 0, outputs: [], failure: submitted.failure.message };
  const id = submitted.value.executionId;
  const ended = await waitForEnd(ports, id, io, leave);
  const cost = costCny(await ports.store.charges({ executionId: id }));
  return {
    status: ended?.status ?? 'gone',
    costCny: cost,
    seconds: secondsOf(ended),
    outputs: outputsOf(ended?.output),
    ...(ended?.failure === undefined ? {} : { failure: `${ended.failure.kind}: ${ended.failure.message}` }),
  };
}

function secondsOf(execution: ExecutionRecord | undefined): number {
  const { startedAt, endedAt } = execution ?? {};
  return startedAt === undefined || endedAt === undefined ? 0 : (endedAt - startedAt) / 1_000;
}

function outputsOf(output: JsonObject | undefined): VersionRun['outputs'] {
  const result = output?.['result'];
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return [];
  return Object.entries(result).map(([name, value]) => {
    const files = (Array.isArray(value) ? value : [value]).filter(isArtifact);
    if (files.length > 0) return { name, files };
    return { name, text: typeof value === 'string' ? value : JSON.stringify(value, undefined, 2) };
  });
}
