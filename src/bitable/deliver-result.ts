import type { StageDefinition } from '../contract/index.ts';
import { isArtifact, type Artifact } from '../contract/index.ts';
import type { OutboxMessage } from '../engine/ports/index.ts';
import { fail, type Json, type JsonObject, ok, type Result } from '../kernel/index.ts';
import { readText } from './codec-read.ts';
import { writeText } from './codec-write.ts';
import type { Hub, RowPlace } from './hub.ts';
import { type RowDocument, stageOf, withStage } from './row-documents.ts';
import { keyArtifact, textMember } from './row-facts.ts';
import { uploadArtifact, type UploadFault } from './upload.ts';
import type { AttachmentMerge } from './writer-entry.ts';

/** A stage's artifacts, uploaded and ready to be written. */
export interface ReadyArtifacts {
  readonly cells: JsonObject;
  readonly merges: readonly AttachmentMerge[];
  /** File tokens by the agent's column name. */
  readonly tokens: ReadonlyMap<string, readonly string[]>;
  /** Members of the key cell as it will be read back; empty when the key artifact did not come. */
  readonly keyMembers: readonly string[];
  readonly hashes: readonly string[];
}

/** Uploads what an execution yielded and shapes it for the row's cells. What did not come is left as it stands. */
export async function readyArtifacts(
  hub: Hub,
  place: RowPlace,
  stage: StageDefinition,
  row: RowDocument,
  output: JsonObject | undefined,
): Promise<Result<ReadyArtifacts, UploadFault>> {
  const { columns, agent, table } = place.table;
  const cells: Record<string, Json> = {};
  const merges: AttachmentMerge[] = [];
  const tokens = new Map<string, readonly string[]>();
  const hashes: string[] = [];
  let keyMembers: readonly string[] = [];
  for (const artifact of stage.artifacts) {
    const column = columns.artifacts.get(artifact.column);
    const value = output?.[artifact.from];
    if (column === undefined || value === undefined || value === null) continue;
    const isKey = artifact === keyArtifact(stage);
    if (artifact.type === 'text') {
      const text = textOf(value);
      if (text === '') continue;
      cells[column.name] = writeText(text);
      if (isKey) keyMembers = [textMember(text)];
      continue;
    }
    const files = artifactsIn(value);
    if (files.length === 0) continue;
    const uploaded = await uploadAll(hub, table.appToken, files, artifact.file_name ?? '');
    if (!uploaded.ok) return uploaded;
    hashes.push(...files.map((file) => file.hash));
    tokens.set(artifact.column, uploaded.value);
    if (isKey) keyMembers = uploaded.value;
    merges.push({
      column: column.name,
      tokens: uploaded.value,
      versions: stageOf(row, stage.stage).versions[artifact.column] ?? [],
      keep: agent.keep_versions ?? 1,
      first: true,
    });
  }
  return ok({ cells, merges, tokens, keyMembers, hashes });
}

async function uploadAll(
  hub: Hub,
  appToken: string,
  files: readonly Artifact[],
  fileName: string,
): Promise<Result<readonly string[], UploadFault>> {
  const tokens: string[] = [];
  for (const [index, file] of files.entries()) {
    const numbered = files.length > 1 ? `${fileName}${index + 1}` : fileName;
    const token = await uploadArtifact(hub, appToken, file, fileName === '' ? file.name : numbered);
    if (!token.ok) return fail(token.failure);
    tokens.push(token.value);
  }
  return ok([...new Set(tokens)]);
}

/** A text artifact as staff read it; anything but text is shown as JSON. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value) && (value as readonly Json[]).every((member) => typeof member === 'string')) {
    return value.join('\n');
  }
  if (typeof value === 'number' || typeof value === 'boolean') return readText(value);
  return JSON.stringify(value, undefined, 2);
}

/** All artifacts in a value, in order. */
export function artifactsIn(value: Json | undefined): readonly Artifact[] {
  if (isArtifact(value)) return [value];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((member) => artifactsIn(member));
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap((member) => artifactsIn(member));
  }
  return [];
}

/** The row's memory after a stage's artifacts have been written. */
export function withArtifacts(
  row: RowDocument,
  stage: StageDefinition,
  ready: ReadyArtifacts,
  keep: number,
  isPartial: boolean,
): RowDocument {
  const own = stageOf(row, stage.stage);
  const versions = { ...own.versions };
  for (const [column, tokens] of ready.tokens) {
    const older = (versions[column] ?? []).filter((version) => version.join() !== tokens.join());
    versions[column] = [[...tokens], ...older].slice(0, Math.max(1, keep));
  }
  if (ready.keyMembers.length === 0) return withStage(row, stage.stage, { versions });
  return withStage(row, stage.stage, {
    versions,
    made: [...ready.keyMembers],
    ...(own.startedFrom === undefined ? {} : { madeFrom: own.startedFrom }),
    rejected: isPartial ? own.rejected : own.rejected.filter((member) => !ready.keyMembers.includes(member)),
    partial: isPartial ? [...new Set([...own.partial, ...ready.keyMembers])] : [],
  });
}

/**
 * The row's memory when a result could not get into its cell: what the bot wrote there before is not the answer any more, so
 * that 提交 writes the kept result and does not go on with the old one.
 */
export function withUndelivered(row: RowDocument, stage: StageDefinition): RowDocument {
  const own = stageOf(row, stage.stage);
  return withStage(row, stage.stage, { rejected: [...new Set([...own.rejected, ...own.made])] });
}

/** Marks and working time of an execution that has ended. */
export function withEnd(
  row: RowDocument,
  stage: StageDefinition,
  message: Extract<OutboxMessage, { kind: 'ended' }>,
  hints: string[],
): RowDocument {
  return withStage(row, stage.stage, { hints, activeMs: stageOf(row, stage.stage).activeMs + message.activeMs });
}
