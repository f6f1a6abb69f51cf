import type { AgentDefinition } from '../contract/index.ts';
import type { BoundColumn, TableColumns } from './columns.ts';
import { fieldType } from './protocol-columns.ts';
import { normalizeName, operationWords } from './words.ts';

/** A single select that lacks options which staff should be able to choose. */
export interface LackingOptions {
  readonly column: string;
  readonly options: readonly string[];
}

/**
 * What a person has to add by hand. Options of 状态 come into being when they are written. Those of 操作 and of inputs are
 * not added by us: the platform's update of a column replaces all its options, by id, and an option that somebody made
 * between our read and that write would be deleted with its cells.
 */
export function lackingOptions(agent: AgentDefinition, columns: TableColumns): readonly LackingOptions[] {
  const inputs = Object.entries(agent.inputs).map(
    ([name, input]) => [columns.inputs.get(name), input.options ?? []] as const,
  );
  return [[columns.protocol.操作, operationWords] as const, ...inputs].flatMap(([column, wanted]) => {
    const options = column === undefined ? [] : lackingIn(column, wanted);
    return column === undefined || options.length === 0 ? [] : [{ column: column.name, options }];
  });
}

function lackingIn(column: BoundColumn, wanted: readonly string[]): readonly string[] {
  if (column.type !== fieldType.singleSelect) return [];
  const present = new Set(column.options.map(normalizeName));
  return wanted.filter((option) => !present.has(normalizeName(option)));
}
