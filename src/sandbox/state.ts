import { z } from 'zod';
import type { Json } from '../kernel/index.ts';

const json: z.ZodType<Json> = z.json();

/**
 * Everything that the outside world remembers, as JSON: `snapshot()` gives it, `restore()` parses it back. Media bytes lie
 * in the BlobStore under their hashes.
 */
const fieldSchema = z.object({
  fieldId: z.string(),
  name: z.string(),
  type: z.int(),
  uiType: z.string().exactOptional(),
  isPrimary: z.boolean(),
  description: z.string().exactOptional(),
  /** Advanced permission keeps this column from the app: not listed, not read, 1254045 on writing. */
  hidden: z.boolean().exactOptional(),
  property: z.record(z.string(), json).exactOptional(),
});

const cellsSchema = z.record(z.string(), json);

const recordSchema = z.object({
  recordId: z.string(),
  /** Field id → cell in its read shape; absent when empty. */
  cells: cellsSchema,
  createdBy: z.string(),
  createdAtMs: z.number(),
  modifiedBy: z.string(),
  modifiedAtMs: z.number(),
  /** Cells before the last change, for searches that answer late. */
  previous: cellsSchema.exactOptional(),
});

const tableSchema = z.object({
  tableId: z.string(),
  name: z.string(),
  fields: z.array(fieldSchema),
  records: z.record(z.string(), recordSchema),
});

const baseSchema = z.object({
  appToken: z.string(),
  name: z.string(),
  revision: z.int(),
  advancedPermission: z.boolean(),
  /** What the app may do here: `none` answers 91403, `reader` may not write, `manager` may everything. */
  appRole: z.enum(['none', 'reader', 'editor', 'manager']),
  /** A wiki node that shows this base. */
  wikiToken: z.string().exactOptional(),
  tables: z.array(tableSchema),
  subscribed: z.boolean(),
});

const mediaSchema = z.object({
  fileToken: z.string(),
  appToken: z.string(),
  name: z.string(),
  sizeBytes: z.number(),
  mime: z.string(),
  hash: z.string(),
  atMs: z.number(),
  /** The bytes were too many to keep. */
  dropped: z.boolean().exactOptional(),
});

const fileSchema = z.object({
  fileId: z.string(),
  hash: z.string(),
  mime: z.string(),
  name: z.string(),
  expiresAtMs: z.number(),
  defect: z.enum(['truncated', 'html', 'empty', 'wrong-type', 'garbage']).exactOptional(),
  padToBytes: z.number().exactOptional(),
});

const fateSchema = z.object({
  outcome: z.enum(['succeed', 'fail']).exactOptional(),
  failCode: z.string().exactOptional(),
  failMessage: z.string().exactOptional(),
  billFailure: z.boolean().exactOptional(),
  durationMs: z.number().exactOptional(),
  invisibleMs: z.number().exactOptional(),
  strangeState: z.object({ word: z.string(), forMs: z.number() }).exactOptional(),
  withoutUrl: z.object({ firstChecks: z.int().exactOptional() }).exactOptional(),
  failsAfterSuccess: z.object({ afterChecks: z.int() }).exactOptional(),
  billDelayMs: z.number().exactOptional(),
  hidesCost: z.boolean().exactOptional(),
  media: z.enum(['truncated', 'html', 'empty', 'wrong-type', 'garbage']).exactOptional(),
  linkLifeMs: z.number().exactOptional(),
  recordLifeMs: z.number().exactOptional(),
  padToBytes: z.number().exactOptional(),
});

const taskSchema = z.object({
  taskId: z.string(),
  vendor: z.string(),
  dialect: z.string(),
  model: z.string(),
  media: z.enum(['image', 'video']),
  clientId: z.string().exactOptional(),
  request: json,
  prompt: z.string(),
  /** Hashes of the input pictures, fetched at acceptance. */
  inputs: z.array(z.string()),
  count: z.int(),
  ratio: z.string().exactOptional(),
  durationS: z.number().exactOptional(),
  acceptedAtMs: z.number(),
  dueAtMs: z.number(),
  fate: fateSchema,
  cost: z.array(z.object({ unit: z.string(), amountMicros: z.int() })),
  files: z.array(z.string()).exactOptional(),
  /** Status checks answered so far, and those that showed success. */
  checks: z.int(),
  successShown: z.int(),
  canceledAtMs: z.number().exactOptional(),
});

const billLineSchema = z.object({
  vendor: z.string(),
  taskId: z.string(),
  clientId: z.string().exactOptional(),
  model: z.string(),
  unit: z.string(),
  amountMicros: z.int(),
  atMs: z.number(),
});

export const worldStateSchema = z.object({
  version: z.literal(1),
  bases: z.record(z.string(), baseSchema),
  media: z.record(z.string(), mediaSchema),
  files: z.record(z.string(), fileSchema),
  tasks: z.record(z.string(), taskSchema),
  /** Bills that belong to no task: chat. */
  chatBill: z.array(billLineSchema),
  /** Vendor → credits that the account was given, in millionths of its unit. */
  funds: z.record(z.string(), z.number()),
});

export type WorldState = z.infer<typeof worldStateSchema>;
export type BaseState = z.infer<typeof baseSchema>;
export type TableState = z.infer<typeof tableSchema>;
export type FieldState = z.infer<typeof fieldSchema>;
export type RecordState = z.infer<typeof recordSchema>;
export type MediaState = z.infer<typeof mediaSchema>;
export type FileState = z.infer<typeof fileSchema>;
export type TaskState = z.infer<typeof taskSchema>;

export function emptyWorld(): WorldState {
  return { version: 1, bases: {}, media: {}, files: {}, tasks: {}, chatBill: [], funds: {} };
}
