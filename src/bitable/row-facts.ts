import { createHash } from 'node:crypto';
import type { AgentDefinition, StageDefinition } from '../contract/index.ts';
import { canonicalJson, type Json, type JsonObject } from '../kernel/index.ts';
import { type CellAttachment, isEmptyCell, readAttachments, readSelect, readText } from './codec-read.ts';
import type { TableColumns } from './columns.ts';
import type { RowFacts, StageFacts } from './decision-table.ts';
import { type RowDocument, stageOf } from './row-documents.ts';
import { normalizeWord, parseStatus, type RowStatus } from './words.ts';

/** What a key cell holds, as comparable members: file tokens, or one hash of the text. Empty cell: none. */
export function cellMembers(type: 'attachment' | 'text', cell: Json | undefined): readonly string[] {
  if (type === 'attachment') return readAttachments(cell).map((file) => file.fileToken);
  const text = readText(cell).trim();
  return text === '' ? [] : [textMember(text)];
}

export function textMember(text: string): string {
  return `text:${shortHash(text.trim())}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

/**
 * The files that stand for an artifact: the newest version, which lies first in the cell. Files that staff put in front
 * count as a version of their own; staff who delete the newer files thereby choose an older version.
 */
export function newestVersion(
  files: readonly CellAttachment[],
  versions: readonly (readonly string[])[],
): readonly CellAttachment[] {
  const [first] = files;
  if (first === undefined) return [];
  const version = versions.find((tokens) => tokens.includes(first.fileToken));
  const ours = new Set(versions.flat());
  const end = files.findIndex((file) =>
    version === undefined ? ours.has(file.fileToken) : !version.includes(file.fileToken),
  );
  return end === -1 ? files : files.slice(0, end);
}

/** Every `$.…` path that a stage's input mapping names. */
export function referencesOf(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return value.startsWith('$.') ? [value.slice(2)] : [];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((member) => referencesOf(member));
  if (typeof value === 'object' && value !== null)
    return Object.values(value).flatMap((member) => referencesOf(member));
  return [];
}

/** The key artifact of a stage. */
export function keyArtifact(stage: StageDefinition): StageDefinition['artifacts'][number] {
  const [key] = stage.artifacts;
  if (key === undefined) throw new Error(`stage ${stage.stage} has no artifact`);
  return key;
}

/**
 * What a stage would be made from, as the row stands now: a hash over the cells that its mapping names, its own artifacts
 * and 打回意见 left out. Another signature than the one of the last success means that staff have edited its inputs.
 */
export function inputSignature(
  agent: AgentDefinition,
  stage: StageDefinition,
  columns: TableColumns,
  fields: JsonObject,
  row: RowDocument,
): string {
  const own = new Set(stage.artifacts.map((artifact) => artifact.column));
  const parts: Record<string, Json> = {};
  for (const reference of referencesOf(stage.input)) {
    const [root, ...rest] = reference.split('.');
    const name = rest.join('.');
    if (root === 'inputs') parts[reference] = inputPart(agent, columns, fields, name);
    if (root === 'artifacts' && !own.has(name)) parts[reference] = artifactPart(agent, columns, fields, row, name);
  }
  return shortHash(canonicalJson(parts));
}

function inputPart(agent: AgentDefinition, columns: TableColumns, fields: JsonObject, name: string): Json {
  const cell = fields[columns.inputs.get(name)?.name ?? ''];
  if (agent.inputs[name]?.type === 'attachment') return readAttachments(cell).map((file) => file.fileToken);
  return readText(cell).trim();
}

function artifactPart(
  agent: AgentDefinition,
  columns: TableColumns,
  fields: JsonObject,
  row: RowDocument,
  column: string,
): Json {
  const cell = fields[columns.artifacts.get(column)?.name ?? ''];
  const owner = agent.stages.find((stage) => stage.artifacts.some((artifact) => artifact.column === column));
  const type = owner?.artifacts.find((artifact) => artifact.column === column)?.type;
  if (type !== 'attachment') return readText(cell).trim();
  const versions = owner === undefined ? [] : (stageOf(row, owner.stage).versions[column] ?? []);
  return newestVersion(readAttachments(cell), versions).map((file) => file.fileToken);
}

/** A row as the decision table sees it. The bot's own memory of 状态 comes first; the cell counts for unknown rows only. */
export function rowFacts(
  agent: AgentDefinition,
  columns: TableColumns,
  fields: JsonObject,
  row: RowDocument | undefined,
): RowFacts {
  const known = row ?? { agent: agent.agent, status: cellStatus(columns, fields), stages: {} };
  const document: RowDocument = {
    stage: 0,
    cancelRequested: false,
    submitter: '',
    title: '',
    starts: [],
    notes: [],
    ...known,
  };
  const stages = agent.stages.map((stage) => stageFacts(agent, stage, columns, fields, document));
  return {
    status: document.status,
    stages,
    waitingStage: row === undefined ? inferWaitingStage(document.status, stages) : document.stage,
  };
}

export function cellStatus(columns: TableColumns, fields: JsonObject): RowStatus {
  return parseStatus(normalizeWord(readSelect(fields[columns.protocol.状态?.name ?? '']))) ?? '';
}

function stageFacts(
  agent: AgentDefinition,
  stage: StageDefinition,
  columns: TableColumns,
  fields: JsonObject,
  row: RowDocument,
): StageFacts {
  const key = keyArtifact(stage);
  const cell = fields[columns.artifacts.get(key.column)?.name ?? ''];
  const members = cellMembers(key.type, cell);
  const own = stageOf(row, stage.stage);
  const isOnly = (refused: readonly string[]): boolean =>
    members.length > 0 && refused.length > 0 && members.every((member) => refused.includes(member));
  const [first] = members;
  const isOurs = first !== undefined && own.made.includes(first);
  return {
    present: !isEmptyCell(cell),
    rejected: isOnly(own.rejected),
    partial: isOnly(own.partial),
    inputsChanged:
      isOurs && own.madeFrom !== undefined && own.madeFrom !== inputSignature(agent, stage, columns, fields, row),
  };
}

/** For a row that another data directory knew: 待确认 waits after the last artifact, 待核对 before the first gap. */
function inferWaitingStage(status: RowStatus, stages: readonly StageFacts[]): number {
  const gap = stages.findIndex((stage) => !stage.present);
  if (status === '待核对') return gap === -1 ? stages.length - 1 : gap;
  return gap === -1 ? stages.length - 1 : Math.max(0, gap - 1);
}
