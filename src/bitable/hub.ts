import type { AgentDefinition, StageDefinition } from '../contract/index.ts';
import type { TableRef } from '../feishu/index.ts';
import type { JsonObject } from '../kernel/index.ts';
import type { Attachments } from './attachments.ts';
import type { TableColumns } from './columns.ts';
import type { TableSideDeps } from './deps.ts';
import type { FileMemory } from './file-memory.ts';
import type { Messenger } from './messages.ts';
import type { RowRef } from './refs.ts';
import type { KeyedLock } from './signal.ts';
import { stageNumeral } from './words.ts';
import type { BaseWriter } from './writer.ts';

/** A table while the process lives. `columns` is absent until they have been read and found fit. */
export interface TableState {
  readonly agent: AgentDefinition;
  readonly table: TableRef;
  columns: TableColumns | undefined;
  /** Why nothing new is taken from it: its columns, or another installation's rows. */
  halted: 'columns' | 'foreign-installation' | undefined;
  /** The first 状态 written in this process: was it found in the table when read back (P009)? */
  isStatusProven: boolean;
  /** The columns must be read again before the next search. */
  columnsAreStale: boolean;
}

/** A table whose columns are known. */
export type ReadyTable = TableState & { readonly columns: TableColumns };

/** What the parts of the table side share. */
export interface Hub {
  readonly deps: TableSideDeps;
  readonly files: FileMemory;
  readonly attachments: Attachments;
  readonly lock: KeyedLock;
  readonly messenger: Messenger;
  readonly signal: AbortSignal;
  /** By `tableKey`. */
  readonly tables: ReadonlyMap<string, TableState>;
  writerOf(appToken: string): BaseWriter;
  /** Tells the operator through the event log; never throws. */
  notice(data: JsonObject): Promise<void>;
  /** Halts the intake of a table, once, with a notice. */
  halt(table: TableState, why: NonNullable<TableState['halted']>, text: string): Promise<void>;
}

/** A row with its table. */
export interface RowPlace {
  readonly table: ReadyTable;
  readonly recordId: string;
}

export function refOf(place: RowPlace): RowRef {
  return { table: place.table.table, recordId: place.recordId };
}

export function isReady(table: TableState): table is ReadyTable {
  return table.columns !== undefined;
}

/** `②分镜`: the numeral in front unless the title has it already. */
export function stageLabel(agent: AgentDefinition, index: number): string {
  const title = agent.stages[index]?.title ?? '';
  const numeral = stageNumeral(index);
  return title.startsWith(numeral) ? title : `${numeral}${title}`;
}

export function stageAt(agent: AgentDefinition, index: number): StageDefinition {
  const stage = agent.stages[index];
  if (stage === undefined) throw new Error(`agent ${agent.agent} has no stage ${index + 1}`);
  return stage;
}
