import { z } from 'zod';
import {
  durationSchema,
  failureKindSchema,
  jsonSchemaSchema,
  mappingSchema,
  nameSchema,
  nodeIdSchema,
} from './config-values.ts';

/**
 * What a node does when it has failed for good. `fallback` gives a preset output, another node's output, or the last
 * good result of the same node for the same source; each is marked degraded.
 */
const onFailureSchema = z.union([
  z.enum(['fail', 'skip']),
  z.strictObject({
    fallback: z.union([
      z.strictObject({ preset: mappingSchema }),
      z.strictObject({ node: nodeIdSchema }),
      z.literal('last_good'),
    ]),
  }),
]);

export const retrySchema = z.strictObject({
  /** Whole chains of one candidate, the first included. */
  attempts: z.int().min(1).max(10).optional(),
  /** Base delay before the second attempt; grows by `factor`, drawn with full jitter, at most `max_delay`. */
  delay: durationSchema.optional(),
  factor: z.number().min(1).max(10).optional(),
  max_delay: durationSchema.optional(),
  /** Failure kinds that are tried again, instead of the failure table's; invalid-input, content-policy and canceled never are. */
  on: z.array(failureKindSchema).optional(),
});

const nodeCommon = {
  /** Order only: `node` or `node.branch`. */
  after: z.array(z.string()).optional(),
  /** How several incoming branches meet: `all` (default) or `any` (a declared join: at least one arrived, the rest skipped). */
  join: z.enum(['all', 'any']).optional(),
  timeout: durationSchema.optional(),
  retry: retrySchema.optional(),
  on_failure: onFailureSchema.optional(),
  /** Words for 进度; defaults to the node's id. */
  title: z.string().optional(),
};

const skillNode = z.strictObject({
  kind: z.literal('skill'),
  skill: nameSchema,
  input: mappingSchema.optional(),
  /** Overrides the skill's defaults. */
  params: mappingSchema.optional(),
  ...nodeCommon,
});

const conditionNode = z.strictObject({
  kind: z.literal('condition'),
  input: mappingSchema.optional(),
  /** Branch name → CEL over `input`; the first true one is taken, `else` when none is. Each branch is a port. */
  branches: z.record(nodeIdSchema, z.string()),
  ...nodeCommon,
});

const mapNode = z.strictObject({
  kind: z.literal('map'),
  /** The list; one run of `body` an item. */
  over: z.string(),
  max_items: z.int().min(1).max(200),
  concurrency: z.int().min(1).max(50).optional(),
  /** `fail`: one failed item fails the node. `keep`: the good ones are kept and the node is partial. */
  on_item_failure: z.enum(['fail', 'keep']).optional(),
  /** Mapping may use `$.item`, `$.index` besides the rest. */
  input: mappingSchema.optional(),
  body: z.union([
    z.strictObject({ skill: nameSchema, params: mappingSchema.optional() }),
    z.strictObject({ workflow: nameSchema }),
  ]),
  ...nodeCommon,
});

const workflowNode = z.strictObject({
  kind: z.literal('workflow'),
  workflow: nameSchema,
  input: mappingSchema.optional(),
  ...nodeCommon,
});

const functionNode = z.strictObject({
  kind: z.literal('function'),
  /** A registered function: `text.sections`, `picture.contact-sheet` … */
  function: nameSchema,
  input: mappingSchema.optional(),
  ...nodeCommon,
});

const nodeSchema = z.discriminatedUnion('kind', [skillNode, conditionNode, mapNode, workflowNode, functionNode]);

export const workflowSchema = z.strictObject({
  workflow: nameSchema,
  version: z.int().min(1).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  max_concurrency: z.int().min(1).max(100).optional(),
  /** From the first start of a node to the end, without waiting for people. */
  deadline: durationSchema.optional(),
  /** Whether finished parts of a failed run are kept and shown (`partial`). */
  keep_partial: z.boolean().optional(),
  input: jsonSchemaSchema,
  nodes: z.record(nodeIdSchema, nodeSchema),
  /** Output name → `$.nodes…` path. */
  output: mappingSchema,
});

export type WorkflowDefinition = z.infer<typeof workflowSchema>;
export type NodeDefinition = z.infer<typeof nodeSchema>;
export type OnFailure = z.infer<typeof onFailureSchema>;
export type RetryDefinition = z.infer<typeof retrySchema>;
