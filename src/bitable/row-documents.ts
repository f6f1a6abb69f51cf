import { z } from 'zod';
import type { Store, StoreCommand } from '../engine/ports/index.ts';
import { type Clock, jsonObjectOf } from '../kernel/index.ts';
import { statusWords } from './words.ts';

/**
 * What the table side remembers durably, as documents of the store.
 *
 * - `bitable-row`, one a row that was ever commanded: its status as the bot means it (the cell may lag or be edited by
 *   hand), what each stage made, which execution is current.
 * - `bitable-command`, one a typed word until it is executed and its cell has been read empty afterwards.
 * - `bitable-file`: token by base and hash, and the other way round, so that nothing is uploaded or downloaded twice.
 */
export const collections = {
  row: 'bitable-row',
  command: 'bitable-command',
  file: 'bitable-file',
  message: 'bitable-message',
  calls: 'feishu-calls',
} as const;

const stageDocument = z.object({
  /** Raised by 打回 and by 提交 on 完成. */
  generation: z.int().default(0),
  /** Members of the key cell (file tokens, or a text's hash) that are not the answer any more. */
  rejected: z.array(z.string()).default([]),
  /** Members of the key cell that are a partial result. */
  partial: z.array(z.string()).default([]),
  /** Members of the key cell that the bot wrote last. */
  made: z.array(z.string()).default([]),
  /** Signature of the inputs that `made` was made from. */
  madeFrom: z.string().optional(),
  /** Signature of the inputs of the start that is under way. */
  startedFrom: z.string().optional(),
  /** 打回意见 of this generation. */
  feedback: z.string().optional(),
  /** Marks of this stage for 提示. */
  hints: z.array(z.string()).default([]),
  activeMs: z.number().default(0),
  /** File tokens by column, newest version first. */
  versions: z.record(z.string(), z.array(z.array(z.string()))).default({}),
});
export type StageDocument = z.infer<typeof stageDocument>;

const rowDocument = z.object({
  agent: z.string(),
  status: z.enum(statusWords),
  /** The stage that waits for a person, runs, or is in doubt. */
  stage: z.int().default(0),
  stages: z.record(z.string(), stageDocument).default({}),
  current: z
    .object({
      executionId: z.string(),
      stage: z.string(),
      startedAt: z.number(),
      /** It is an operator's rerun, and this was the row's status before it. */
      rerunOver: z.enum(statusWords).optional(),
    })
    .optional(),
  heldAttemptId: z.string().optional(),
  cancelRequested: z.boolean().default(false),
  submitter: z.string().default(''),
  /** What people call the row, when it was last commanded. */
  title: z.string().default(''),
  /** Starts within the last hour, epoch ms (loop guard). */
  starts: z.array(z.number()).default([]),
  /** Hints that belong to no stage, for 提示. */
  notes: z.array(z.string()).default([]),
  lastFeedback: z.string().optional(),
});
export type RowDocument = z.infer<typeof rowDocument>;

const commandPlan = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), stage: z.int(), held: z.enum(['none', 'not-accepted', 'cancel']) }),
  z.object({ kind: z.literal('cancel'), running: z.boolean() }),
  /** `cancels`: the execution in doubt, whose file staff have put into the row themselves. */
  z.object({ kind: z.literal('finish'), cancels: z.string().optional() }),
  z.object({ kind: z.literal('refuse') }),
]);
export type CommandPlan = z.infer<typeof commandPlan>;

/** Protocol columns by their fixed names, so that a renamed column still finds its cell. */
export const cellsSchema = z.record(z.string(), z.json());

const commandDocument = z.object({
  id: z.string(),
  recordId: z.string(),
  /** As it stood in the cell, normalised. */
  word: z.string(),
  storedAt: z.number(),
  plan: commandPlan,
  /** The cells that are written together with the clear of 操作. */
  cells: cellsSchema,
  /** `stored`: the clear has not been answered. `cleared`: it has. `executed`: nothing is left but to see the cell empty. */
  phase: z.enum(['stored', 'cleared', 'executed']),
  /** A read that was issued after the clear's answer has shown 操作 without this word; or another word was typed over it. */
  closed: z.boolean(),
  /** Who typed it, as far as anyone told us. */
  submitter: z.string().default(''),
  /** Words for whoever typed it. */
  hint: z.string().optional(),
});
export type CommandDocument = z.infer<typeof commandDocument>;

/** A row's document, or undefined for a row that was never commanded. */
export async function loadRow(store: Store, key: string): Promise<RowDocument | undefined> {
  const record = await store.document(collections.row, key);
  return record === undefined ? undefined : rowDocument.parse(record.value);
}

export function newRow(agent: string): RowDocument {
  return rowDocument.parse({ agent, status: '' });
}

export function stageOf(row: RowDocument, stage: string): StageDocument {
  return row.stages[stage] ?? stageDocument.parse({});
}

export function withStage(row: RowDocument, stage: string, change: Partial<StageDocument>): RowDocument {
  return { ...row, stages: { ...row.stages, [stage]: { ...stageOf(row, stage), ...change } } };
}

/** The last five hints that belong to no stage are kept. */
export function withNote(row: RowDocument, line: string): RowDocument {
  return row.notes.includes(line) ? row : { ...row, notes: [...row.notes.slice(-4), line] };
}

/** Nothing of it runs or is in doubt any more. */
export function withoutCurrent(row: RowDocument): RowDocument {
  const { current, heldAttemptId, ...rest } = row;
  return current === undefined && heldAttemptId === undefined ? row : rest;
}

export function putRow(clock: Clock, key: string, row: RowDocument): StoreCommand {
  return putDocument(clock, collections.row, key, row);
}

function commandKey(key: string, id: string): string {
  return `${key}#${id}`;
}

export function putCommand(clock: Clock, key: string, command: CommandDocument): StoreCommand {
  return putDocument(clock, collections.command, commandKey(key, command.id), command);
}

export function deleteCommand(key: string, command: CommandDocument): StoreCommand {
  return { type: 'delete-document', collection: collections.command, key: commandKey(key, command.id) };
}

/** Open commands below a prefix (a table or a row), oldest first. */
export async function openCommands(store: Store, prefix: string): Promise<readonly CommandDocument[]> {
  const records = await store.documents(collections.command, { prefix });
  return records
    .map((record) => commandDocument.parse(record.value))
    .sort((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
}

/**
 * The stage (its index) of a start that is stored and not executed yet: 生成中 stands in the row, and no execution. Whatever
 * comes to its end in the meantime must leave it that.
 */
export function pendingStart(commands: readonly CommandDocument[]): number | undefined {
  return commands.flatMap(({ phase, plan }) => (plan.kind === 'start' && phase !== 'executed' ? [plan.stage] : []))[0];
}

/** JSON that went through a schema, as a document's value. */
export function putDocument(clock: Clock, collection: string, key: string, value: object): StoreCommand {
  return { type: 'put-document', record: { collection, key, value: jsonObjectOf(value), updatedAt: clock.nowMs() } };
}
