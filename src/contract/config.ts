import { z } from 'zod';
import { capabilityIdSchema, durationSchema, nameSchema } from './config-values.ts';

/**
 * How the capability's neutral input becomes a model's own fields. Keys are neutral names (`prompt`, `images`,
 * `firstFrame`, `ratio`, `resolution`, `durationS`, `audio`, `count`, `seed`, `avoid`); a neutral name that is absent here
 * is one that the model does not take (`avoid` is then folded into the prompt).
 */
const fieldSchema = z.strictObject({
  name: z.string(),
  /** `list`: always an array; `single`: the first only; `string` / `integer` / `number` / `boolean`: the JSON type sent. */
  as: z.enum(['list', 'single', 'string', 'integer', 'number', 'boolean']).optional(),
  required: z.boolean().optional(),
  default: z.json().optional(),
  /** Most items of a list. */
  max: z.int().optional(),
  /** Longest text. */
  max_chars: z.int().optional(),
  /** Values the model knows, in its own spelling. */
  values: z.array(z.json()).optional(),
  /** A number that is not among `values` is moved to the nearest of them, and staff are told; absent: refused before paying. */
  adjust: z.literal('nearest').optional(),
  /** Our value → the model's (`"1:1": square_hd`). */
  map: z.record(z.string(), z.json()).optional(),
});

/** A dated price. `amount` is a decimal string in `currency` for `per` units of `unit`. */
const priceSchema = z.strictObject({
  currency: z.string(),
  dated: z.iso.date(),
  /** The vendor bills by the month: charges are 0 and marked until the statement comes. */
  unpriced: z.boolean().optional(),
  items: z
    .array(
      z.strictObject({
        unit: z.string(),
        amount: z.string(),
        per: z.int().min(1).optional(),
        when: z.record(z.string(), z.json()).optional(),
      }),
    )
    .optional(),
});

export const modelSchema = z.strictObject({
  capability: z.array(capabilityIdSchema).min(1),
  /** Implementation (dialect) that speaks to it: `kie.market`, `openai-chat` … */
  implementation: z.string(),
  /** The name that the vendor knows it by. May come from the environment as `${NAME}`. */
  model: z.string(),
  fields: z.record(z.string(), fieldSchema).optional(),
  /** Sent as they are, below ours. */
  fixed: z.record(z.string(), z.json()).optional(),
  price: priceSchema.optional(),
  /** What is known of its durations, for the poll schedule. */
  typical: durationSchema.optional(),
  deadline: durationSchema.optional(),
  concurrency: z.int().min(1).optional(),
});

/** A model as adapters see it. */
export type ModelSettings = z.infer<typeof modelSchema> & { readonly id: string };
export type FieldMapping = z.infer<typeof fieldSchema>;
export type PriceTable = z.infer<typeof priceSchema>;

export const providerSchema = z.strictObject({
  /** Folder below src/providers. */
  vendor: nameSchema,
  /** `${KIE_API_KEY}`: the environment's; a provider whose key is empty is left out, with a line in the log. */
  key: z.string(),
  base_url: z.string(),
  upload_base_url: z.string().optional(),
  proxy: z.string().optional(),
  concurrency: z.int().min(1).optional(),
  /** `20/10s`: at most so many submits in so long. */
  rate: z
    .string()
    .regex(/^\d+\/\d+(ms|s|m|h)$/)
    .optional(),
  /** Nobody else spends from this account: ledger drift is then an alert. */
  exclusive: z.boolean().optional(),
  models: z.record(nameSchema, modelSchema),
});
export type ProviderDefinition = z.infer<typeof providerSchema>;
export const providersFileSchema = z.strictObject({ providers: z.record(nameSchema, providerSchema) });

/** An agent: a table bound to stages. */
const columnTypeSchema = z.enum(['attachment', 'text', 'number', 'select']);
export const agentSchema = z.strictObject({
  agent: nameSchema,
  version: z.int().min(1).optional(),
  title: z.string(),
  /** The environment variable that names its table. */
  table_env: z.string().regex(/^[A-Z0-9_]+$/),
  /** Other names for the protocol's columns: `操作: 指令`. */
  columns: z.record(z.string(), z.string()).optional(),
  inputs: z.record(
    z.string(),
    z.strictObject({
      column: z.string(),
      type: columnTypeSchema,
      required: z.boolean().optional(),
      /** Words for staff when it is missing. */
      missing: z.string().optional(),
      max: z.int().optional(),
      options: z.array(z.string()).optional(),
    }),
  ),
  stages: z
    .array(
      z.strictObject({
        stage: nameSchema,
        title: z.string(),
        /** One workflow, or several among which `planner` (a skill) chooses. */
        workflow: z.union([nameSchema, z.array(nameSchema).min(2)]),
        planner: nameSchema.optional(),
        /** Input → workflow chosen without the planner: `{scene: {智能修图: photo-retouch}}`. */
        choose_by: z.strictObject({ input: z.string(), values: z.record(z.string(), nameSchema) }).optional(),
        /** Workflow input ← agent input (`$.inputs.x`), earlier artifact (`$.artifacts.列名`), `$.feedback`, `$.row` (its id). */
        input: z.record(z.string(), z.json()),
        /** In order; the first is the key. `from` names the workflow's output member. */
        artifacts: z
          .array(
            z.strictObject({
              column: z.string(),
              type: z.enum(['attachment', 'text']),
              from: z.string(),
              file_name: z.string().optional(),
            }),
          )
          .min(1),
        /** Waits for 通过 afterwards: always, never, or when the setting is on. */
        confirm: z.union([z.boolean(), z.strictObject({ setting: z.string() })]),
      }),
    )
    .min(1),
  /** Versions of artifacts kept in the cell, newest first. */
  keep_versions: z.int().min(1).max(20).optional(),
  /** Open ids of those who may type 通过; absent: everyone. */
  approvers: z.array(z.string()).optional(),
});
export type AgentDefinition = z.infer<typeof agentSchema>;
export type StageDefinition = AgentDefinition['stages'][number];
