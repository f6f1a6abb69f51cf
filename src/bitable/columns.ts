import { z } from 'zod';
import type { AgentDefinition } from '../contract/index.ts';
import type { FieldInfo } from '../feishu/index.ts';
import {
  artifactTypes,
  fieldType,
  inputTypes,
  type ProtocolColumn,
  protocolColumnKeys,
  protocolColumns,
  typeWords,
} from './protocol-columns.ts';
import { normalizeName } from './words.ts';

/** A column as the table really calls it. */
export interface BoundColumn {
  readonly name: string;
  readonly fieldId: string;
  readonly type: number;
  readonly options: readonly string[];
  /** A select's options by id: events name them so. */
  readonly optionNames: ReadonlyMap<string, string>;
}

/** An agent's columns, bound to what the table has. Optional ones are absent where the table has none. */
export interface TableColumns {
  readonly protocol: Readonly<Partial<Record<ProtocolColumn, BoundColumn>>>;
  /** By the input's name in the agent. */
  readonly inputs: ReadonlyMap<string, BoundColumn>;
  /** By the column name in the agent. */
  readonly artifacts: ReadonlyMap<string, BoundColumn>;
  /** The table's first column: what people call a row by. */
  readonly title: string | undefined;
  /** The only names that may ever stand in a write. */
  readonly writable: ReadonlySet<string>;
}

export interface ColumnFault {
  readonly agent: string;
  readonly column: string;
  /** What is wrong. */
  readonly problem: string;
  /** What a person does about it. */
  readonly remedy: string;
}

export type ColumnsResult =
  | { readonly ok: true; readonly value: TableColumns }
  | { readonly ok: false; readonly failure: readonly ColumnFault[] };

interface Wanted {
  readonly names: readonly string[];
  readonly types: readonly number[];
  readonly wanted: string;
  readonly required: boolean;
}

/**
 * Finds an agent's columns in a table: by name after NFKC and trimming, the configured name first, then the alternatives.
 * All faults are returned at once. A column that advanced permission hides is not listed and reads as missing.
 */
export function resolveColumns(agent: AgentDefinition, fields: readonly FieldInfo[]): ColumnsResult {
  const faults: ColumnFault[] = [];
  const byName = new Map(fields.map((field) => [normalizeName(field.name), field]));
  const bind = (wanted: Wanted): BoundColumn | undefined => {
    const found = wanted.names.map((name) => byName.get(normalizeName(name))).find((field) => field !== undefined);
    const fault = found === undefined ? missing(wanted) : unfit(wanted, found);
    if (fault !== undefined) faults.push({ agent: agent.agent, ...fault });
    return found === undefined || fault !== undefined ? undefined : boundColumn(found);
  };
  const protocol: Partial<Record<ProtocolColumn, BoundColumn>> = {};
  for (const key of protocolColumnKeys) {
    const column = bind({ ...protocolColumns[key], names: protocolNames(agent, key) });
    if (column !== undefined) protocol[key] = column;
  }
  const inputs = new Map<string, BoundColumn>();
  for (const [name, input] of Object.entries(agent.inputs)) {
    const column = bind({
      names: [input.column],
      types: inputTypes[input.type],
      wanted: inputWords[input.type],
      required: true,
    });
    if (column !== undefined) inputs.set(name, column);
  }
  const artifacts = new Map<string, BoundColumn>();
  for (const artifact of agent.stages.flatMap((stage) => stage.artifacts)) {
    const column = bind({
      names: [artifact.column],
      types: artifactTypes[artifact.type],
      wanted: inputWords[artifact.type],
      required: true,
    });
    if (column !== undefined) artifacts.set(artifact.column, column);
  }
  if (faults.length > 0) return { ok: false, failure: faults };
  return {
    ok: true,
    value: {
      protocol,
      inputs,
      artifacts,
      title: fields.find((field) => field.isPrimary === true)?.name,
      writable: writableNames(protocol, artifacts),
    },
  };
}

const inputWords = { attachment: '附件', text: '文本', number: '数字', select: '单选' } as const;

/** Names that a protocol column may carry: the configured one alone where it is configured. */
export function protocolNames(agent: AgentDefinition, key: ProtocolColumn): readonly string[] {
  const names: readonly string[] = protocolColumns[key].names;
  const configured = [key, ...names].map((name) => agent.columns?.[name]).find((name) => name !== undefined);
  return configured === undefined ? names : [configured];
}

function writableNames(
  protocol: TableColumns['protocol'],
  artifacts: ReadonlyMap<string, BoundColumn>,
): ReadonlySet<string> {
  const names = protocolColumnKeys.flatMap((key) => {
    const column = protocol[key];
    return column !== undefined && protocolColumns[key].written ? [column.name] : [];
  });
  return new Set([...names, ...[...artifacts.values()].map((column) => column.name)]);
}

function missing(wanted: Wanted): Omit<ColumnFault, 'agent'> | undefined {
  if (!wanted.required) return undefined;
  const [name = '', ...others] = wanted.names;
  const also = others.length > 0 ? `（或「${others.join('」「')}」）` : '';
  return {
    column: name,
    problem: `表里没有「${name}」列${also}，或它对应用不可见`,
    remedy: `新建「${name}」列（${wanted.wanted}），或运行 npx gridloom init 补齐；若已有该列，请在高级权限里让应用可见、可编辑`,
  };
}

function unfit(wanted: Wanted, field: FieldInfo): Omit<ColumnFault, 'agent'> | undefined {
  if (wanted.types.includes(field.type)) return undefined;
  const actual = typeWords[field.type] ?? `类型 ${field.type}`;
  return {
    column: field.name,
    problem: `「${field.name}」是${actual}列，这里要${wanted.wanted}列`,
    remedy: remedyFor(field, wanted),
  };
}

function remedyFor(field: FieldInfo, wanted: Wanted): string {
  if (field.type === fieldType.formula || field.type === fieldType.lookup) {
    return `机器人不能清空或写入公式、引用列；请把「${field.name}」改成${wanted.wanted}列`;
  }
  if (field.type === fieldType.stage) {
    return `「流程」列不能通过接口写入（写了也不生效）；请把「${field.name}」改成${wanted.wanted}列`;
  }
  return `请把「${field.name}」改成${wanted.wanted}列，或在 config/agents 里换一个列名`;
}

function boundColumn(field: FieldInfo): BoundColumn {
  const options = optionsOf(field);
  return {
    name: field.name,
    fieldId: field.fieldId,
    type: field.type,
    options: options.map((option) => option.name),
    optionNames: new Map(options.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name]]))),
  };
}

const optionSchema = z.object({ id: z.string().optional(), name: z.string() });

/** A select's options, as the field list gives them. */
function optionsOf(field: FieldInfo): readonly z.infer<typeof optionSchema>[] {
  const options = field.property?.['options'];
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: unknown) => {
    const parsed = optionSchema.safeParse(option);
    return parsed.success ? [parsed.data] : [];
  });
}
