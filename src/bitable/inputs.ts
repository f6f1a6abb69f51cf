import type { AgentDefinition, Artifact, StageDefinition } from '../contract/index.ts';
import { fail, type Json, type JsonObject, ok, type Result } from '../kernel/index.ts';
import { type CellAttachment, readAttachments, readNumber, readSelect, readText } from './codec-read.ts';
import type { BoundColumn, TableColumns } from './columns.ts';
import { keyArtifact, newestVersion, referencesOf } from './row-facts.ts';
import { type RowDocument, stageOf } from './row-documents.ts';

/** A row that a stage is to be run for. */
export interface StageContext {
  readonly agent: AgentDefinition;
  readonly stage: StageDefinition;
  readonly columns: TableColumns;
  readonly fields: JsonObject;
  readonly row: RowDocument;
  readonly recordId: string;
}

/** Gets a file of a column into the spool; the failure is in words for staff. */
export type FetchFile = (column: BoundColumn, file: CellAttachment) => Promise<Result<Artifact, string>>;

/**
 * The workflow's input from the row's cells: `$.inputs.x` and `$.artifacts.列名` replaced by what stands there (files as a
 * list of artifacts), `$.feedback` by 打回意见, `$.row` by the row's id, which stays while the row lives. What is empty is left
 * out. The first fault that staff can mend is returned.
 */
export async function collectInputs(context: StageContext, fetchFile: FetchFile): Promise<Result<JsonObject, string>> {
  const values = new Map<string, Json>();
  for (const reference of new Set(referencesOf(context.stage.input))) {
    const value = await valueOf(context, reference, fetchFile);
    if (!value.ok) return value;
    if (value.value !== undefined) values.set(`$.${reference}`, value.value);
  }
  const input: Record<string, Json> = {};
  for (const [member, template] of Object.entries(context.stage.input)) {
    const filled = fill(template, values);
    if (filled !== undefined) input[member] = filled;
  }
  return ok(input);
}

/**
 * What staff read when the workflow would not take the input: the texts of earlier stages that stand empty, which is what
 * a file that staff put in by hand leaves behind. Undefined where nothing is empty.
 */
export function emptyTextWords(context: StageContext): string | undefined {
  const names = referencesOf(context.stage.input).flatMap((reference) =>
    reference.startsWith('artifacts.') ? [reference.slice('artifacts.'.length)] : [],
  );
  const { agent, columns, fields } = context;
  const owners = agent.stages.filter((stage) => stage.stage !== context.stage.stage);
  const empty = owners.flatMap((stage) =>
    stage.artifacts
      .filter(({ column, type }) => type === 'text' && names.includes(column))
      .filter(({ column }) => readText(fields[columns.artifacts.get(column)?.name ?? '']).trim() === '')
      .map(({ column }) => ({ column, stage })),
  );
  const [first] = empty;
  if (first === undefined) return undefined;
  const cells = empty.map(({ column }) => `「${column}」`).join('');
  const key = keyArtifact(first.stage).column;
  return `${cells}是空的，这一步要用到：请填写后再选「提交」；或清空「${key}」再选「提交」，由机器人重新生成。`;
}

async function valueOf(
  context: StageContext,
  reference: string,
  fetchFile: FetchFile,
): Promise<Result<Json | undefined, string>> {
  const [root, ...rest] = reference.split('.');
  const name = rest.join('.');
  if (root === 'inputs') return await inputValue(context, name, fetchFile);
  if (root === 'artifacts') return await artifactValue(context, name, fetchFile);
  if (reference === 'row') return ok(context.recordId);
  const feedback = stageOf(context.row, context.stage.stage).feedback ?? '';
  return ok(feedback === '' ? undefined : feedback);
}

async function inputValue(
  context: StageContext,
  name: string,
  fetchFile: FetchFile,
): Promise<Result<Json | undefined, string>> {
  const input = context.agent.inputs[name];
  const column = context.columns.inputs.get(name);
  if (input === undefined || column === undefined) return ok(undefined);
  const cell = context.fields[column.name];
  const missing =
    input.required === true ? fail(input.missing ?? missingWords(column.name, input.type)) : ok(undefined);
  switch (input.type) {
    case 'attachment': {
      const files = readAttachments(cell);
      if (files.length === 0) return missing;
      if (input.max !== undefined && files.length > input.max) {
        return fail(`「${column.name}」最多放 ${input.max} 个文件，现在有 ${files.length} 个，请删减后再选「提交」。`);
      }
      return await fetchAll(column, files, fetchFile);
    }
    case 'text': {
      const text = readText(cell).trim();
      if (text === '') return missing;
      if (input.max !== undefined && text.length > input.max) {
        return fail(`「${column.name}」最多 ${input.max} 字，现在有 ${text.length} 字，请删减后再选「提交」。`);
      }
      return ok(text);
    }
    case 'number': {
      const value = readNumber(cell);
      if (value === undefined) {
        return readText(cell).trim() === '' ? missing : fail(`「${column.name}」要填数字，请修改后再选「提交」。`);
      }
      if (input.max !== undefined && value > input.max) {
        return fail(`「${column.name}」最大 ${input.max}，现在是 ${value}，请修改后再选「提交」。`);
      }
      return ok(value);
    }
    case 'select': {
      const option = readSelect(cell);
      if (option === '') return missing;
      if (input.options !== undefined && !input.options.includes(option)) {
        return fail(`「${column.name}」只能选：${input.options.join('、')}；请修改后再选「提交」。`);
      }
      return ok(option);
    }
  }
}

function missingWords(column: string, type: 'attachment' | 'text' | 'number' | 'select'): string {
  return type === 'attachment'
    ? `「${column}」里没有文件，请上传后再选「提交」。`
    : `「${column}」是空的，请填写后再选「提交」。`;
}

async function artifactValue(
  context: StageContext,
  name: string,
  fetchFile: FetchFile,
): Promise<Result<Json | undefined, string>> {
  const owner = context.agent.stages.find((stage) => stage.artifacts.some((artifact) => artifact.column === name));
  const artifact = owner?.artifacts.find((candidate) => candidate.column === name);
  const column = context.columns.artifacts.get(name);
  if (owner === undefined || artifact === undefined || column === undefined) return ok(undefined);
  const cell = context.fields[column.name];
  const isNeeded = owner.stage !== context.stage.stage && keyArtifact(owner).column === name;
  const nothing = isNeeded
    ? fail(`「${column.name}」是空的：请把文件或内容放回去，或清空后续产物，再选「提交」重做前一个环节。`)
    : ok(undefined);
  if (artifact.type === 'text') {
    const text = readText(cell).trim();
    return text === '' ? nothing : ok(text);
  }
  const versions = stageOf(context.row, owner.stage).versions[name] ?? [];
  const files = newestVersion(readAttachments(cell), versions);
  return files.length === 0 ? nothing : await fetchAll(column, files, fetchFile);
}

async function fetchAll(
  column: BoundColumn,
  files: readonly CellAttachment[],
  fetchFile: FetchFile,
): Promise<Result<Json, string>> {
  const artifacts: Json[] = [];
  for (const file of files) {
    const fetched = await fetchFile(column, file);
    if (!fetched.ok) return fetched;
    artifacts.push({ ...fetched.value });
  }
  return ok(artifacts);
}

/** A path becomes its value, a member without one is left out, anything else stays as written. */
function fill(template: Json | undefined, values: ReadonlyMap<string, Json>): Json | undefined {
  if (typeof template === 'string') return template.startsWith('$.') ? values.get(template) : template;
  if (Array.isArray(template)) {
    const members: readonly Json[] = template;
    return members.flatMap((member) => fill(member, values) ?? []);
  }
  if (typeof template !== 'object' || template === null) return template;
  const filled = Object.entries(template).flatMap(([key, member]) => {
    const value = fill(member, values);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(filled);
}
