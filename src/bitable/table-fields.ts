import type { AgentDefinition } from '../contract/index.ts';
import type { NewField } from '../feishu/index.ts';
import type { JsonObject } from '../kernel/index.ts';
import { protocolNames } from './columns.ts';
import { fieldType, type ProtocolColumn, protocolColumnKeys, protocolColumns } from './protocol-columns.ts';
import { operationWords, statusWords } from './words.ts';

/**
 * The columns of an agent's table as `init` makes them, in the order in which staff work: inputs, 操作, 状态, artifacts, then
 * what the bot tells. The first column of a table may only be of a few types, so a text stands first.
 */
export function tableFields(agent: AgentDefinition): readonly NewField[] {
  const inputs = Object.values(agent.inputs).map((input) => ({
    name: input.column,
    type: newTypes[input.type],
    description: `由员工填写${input.required === true ? '（必填）' : ''}`,
    ...(input.options === undefined ? {} : { property: optionsProperty(input.options) }),
  }));
  const artifacts = agent.stages.flatMap((stage) =>
    stage.artifacts.map((artifact) => ({
      name: artifact.column,
      type: newTypes[artifact.type],
      description: `${stage.title}的产物，由机器人写入；员工可以自己放文件或修改文字`,
    })),
  );
  const ordered = [
    ...inputs,
    ...protocol(agent, ['操作', '状态']),
    ...artifacts,
    ...protocol(agent, ['打回意见', '报错', '提示', '进度', '成本', '耗时', '执行编号', '提交人']),
  ];
  const first = inputs.find((field) => field.type === fieldType.text) ?? nameColumn;
  return [first, ...ordered.filter((field) => field !== first)];
}

/** For tables without a text input: people need something to call a row by. */
const nameColumn: NewField = { name: '名称', type: fieldType.text, description: '给这一行起个名字，随意填写' };

const newTypes = {
  attachment: fieldType.attachment,
  text: fieldType.text,
  number: fieldType.number,
  select: fieldType.singleSelect,
} as const;

/** Colours of options, 0 to 54 (facts: field guide). */
const operationColors: Readonly<Record<string, number>> = { 提交: 7, 通过: 4, 打回: 2, 取消: 10 };
const statusColors: Readonly<Record<string, number>> = {
  生成中: 7,
  待确认: 3,
  完成: 4,
  失败: 0,
  待核对: 1,
  已取消: 10,
};

function optionsProperty(names: readonly string[], colors: Readonly<Record<string, number>> = {}): JsonObject {
  return { options: names.map((name, index) => ({ name, color: colors[name] ?? index % 11 })) };
}

const protocolFields: Readonly<Record<ProtocolColumn, Omit<NewField, 'name'>>> = {
  操作: {
    type: fieldType.singleSelect,
    property: optionsProperty(operationWords, operationColors),
    description: '由员工选择：提交、通过、打回、取消。机器人读到后会清空',
  },
  状态: {
    type: fieldType.singleSelect,
    property: optionsProperty(
      statusWords.filter((word) => word !== ''),
      statusColors,
    ),
    description: '由机器人写入，手工修改不起作用',
  },
  打回意见: { type: fieldType.text, description: '打回时写清楚哪里要改，机器人下一次会照着做' },
  报错: { type: fieldType.text, description: '由机器人写入：出了什么问题、怎么处理' },
  提示: { type: fieldType.text, description: '由机器人写入：换了厂商、降级、估算费用等' },
  进度: { type: fieldType.text, description: '由机器人写入：进行到哪个环节' },
  成本: {
    type: fieldType.number,
    property: { formatter: '0.0000' },
    description: '由机器人写入：这一行至今的全部花费（元），失败也计入',
  },
  耗时: { type: fieldType.number, property: { formatter: '0' }, description: '由机器人写入：各环节用时之和（秒）' },
  执行编号: { type: fieldType.text, description: '由机器人写入：执行编号与本机标记，请勿修改' },
  提交人: { type: fieldType.createdBy, description: '这一行的创建人，结果会通知到他' },
};

function protocol(agent: AgentDefinition, keys: readonly ProtocolColumn[]): readonly NewField[] {
  return keys.map((key) => ({ name: protocolNames(agent, key)[0] ?? key, ...protocolFields[key] }));
}

/** Columns that nobody but the bot has reason to touch: what an operator locks. 操作 and artifacts are not among them. */
export function botColumns(agent: AgentDefinition): readonly string[] {
  return protocolColumnKeys
    .filter((key) => protocolColumns[key].written && key !== '操作')
    .map((key) => protocolNames(agent, key)[0] ?? key);
}

/** Names under which a wanted column may already be there. */
export function knownNames(agent: AgentDefinition, field: NewField): readonly string[] {
  const key = Object.keys(protocolFields).find((candidate) => namesOf(agent, candidate).includes(field.name));
  return key === undefined ? [field.name] : namesOf(agent, key);
}

function namesOf(agent: AgentDefinition, key: string): readonly string[] {
  switch (key) {
    case '成本':
    case '耗时':
      return protocolNames(agent, key);
    default:
      return key in protocolFields ? [agent.columns?.[key] ?? key] : [key];
  }
}
