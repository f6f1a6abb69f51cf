import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Artifact, isArtifact } from '../../contract/index.ts';
import type { ExecutionRecord, Store } from '../../engine/ports/index.ts';
import type { Spool } from '../../media/index.ts';
import { type CommandInput, type CommandIo, exitCodes, textFlag } from '../command.ts';
import { costCny } from '../render/execution-view.ts';

/** Prints how a run ended, its cost and its output; its files are copied to `--out`. */
export async function tellResult(
  place: { readonly store: Store; readonly spool: Spool },
  execution: ExecutionRecord | undefined,
  input: CommandInput,
  io: CommandIo,
): Promise<number> {
  if (execution === undefined) {
    io.err('the execution is gone');
    return exitCodes.failed;
  }
  const folder = textFlag(input, 'out');
  const artifacts = artifactsIn(execution.output);
  const files = folder === undefined ? [] : await copyOut(place.spool, artifacts, resolve(folder));
  const cost = costCny(await place.store.charges({ executionId: execution.id }));
  const { id, status, output, failure } = execution;
  if (input.json) {
    io.out(JSON.stringify({ execution: id, status, cost_cny: cost, output, failure, marks: execution.marks, files }));
  } else {
    io.out(`${id}  ${status}  ${cost} CNY`);
    for (const mark of execution.marks) io.out(`${mark.kind}  ${mark.node}  ${mark.text}`);
    if (failure !== undefined) io.out(`${failure.kind}: ${failure.message}`);
    if (output !== undefined) io.out(JSON.stringify(output, undefined, 2));
    for (const file of files) io.out(file);
    if (status === 'held') io.out(`a paid call is in doubt: "gridloom show ${id}", then "gridloom resolve"`);
    if (execution.endedAt === undefined && status !== 'held') io.out('not ended; the next worker goes on with it');
    if (folder === undefined && artifacts.length > 0) io.out(`${artifacts.length} files; --out DIR copies them`);
  }
  return status === 'succeeded' ? exitCodes.done : exitCodes.failed;
}

async function copyOut(spool: Spool, artifacts: readonly Artifact[], folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const copied: string[] = [];
  for (const artifact of artifacts) {
    // Names come from vendors: the hash keeps them apart, and what is not plain is left out.
    const name = `${artifact.hash.slice(0, 8)}-${artifact.name.replaceAll(/[^\p{L}\p{N}._-]/gu, '_')}`;
    const path = join(folder, name);
    await pipeline(spool.open(artifact, 0, artifact.sizeBytes), createWriteStream(path));
    copied.push(path);
  }
  return copied;
}

function artifactsIn(value: unknown): readonly Artifact[] {
  const found = new Map<string, Artifact>();
  const visit = (each: unknown): void => {
    if (isArtifact(each)) found.set(each.hash, each);
    else if (typeof each === 'object' && each !== null) Object.values(each).forEach(visit);
  };
  visit(value);
  return [...found.values()];
}
