import { z } from 'zod';
import { capabilityIdSchema, failureKindSchema, jsonSchemaSchema, mappingSchema, nameSchema } from './config-values.ts';
import { retrySchema } from './workflow.ts';

/** How the raw answer of a text capability becomes the skill's output. Media capabilities pass theirs on. */
const parseSchema = z.discriminatedUnion('as', [
  z.strictObject({ as: z.literal('text'), min_chars: z.int().min(1).optional(), max_chars: z.int().min(1).optional() }),
  z.strictObject({ as: z.literal('json') }),
  /** Marked sections: `[[NAME]] … [[/NAME]]` or up to the next mark. Each named section becomes an output member. */
  z.strictObject({
    as: z.literal('sections'),
    sections: z.record(
      z.string(),
      z.strictObject({ mark: z.string(), min_chars: z.int().min(1).optional(), max_chars: z.int().min(1).optional() }),
    ),
  }),
]);

/** A check of an output before it counts: a CEL rule over `input` and `output`, or another skill as judge. */
const verifySchema = z.union([
  z.strictObject({ cel: z.string(), reason: z.string() }),
  /** The judge's output must be `{ok: boolean, reasons: string[]}`; its reasons feed the next attempt as `$.feedback`. */
  z.strictObject({ judge: nameSchema, input: mappingSchema.optional() }),
]);

export const skillSchema = z.strictObject({
  skill: nameSchema,
  version: z.int().min(1).optional(),
  title: z.string().optional(),
  capability: capabilityIdSchema,
  /** Name of a prompt file; its rendered text becomes `prompt` (and `system`) of the capability's input. */
  prompt: nameSchema.optional(),
  input: jsonSchemaSchema,
  defaults: mappingSchema.optional(),
  /** Tried in this order. `model` is a key below the provider's `models`. */
  candidates: z.array(z.strictObject({ provider: nameSchema, model: nameSchema })).min(1),
  /** Failure kinds that hand over to the next candidate, instead of the failure table's. */
  fallback_on: z.array(failureKindSchema).optional(),
  retry: retrySchema.optional(),
  parse: parseSchema.optional(),
  output: jsonSchemaSchema.optional(),
  verify: z.array(verifySchema).optional(),
  /** Third layer: the output when every candidate has failed; may use `{{variables}}` of the input. Marked degraded. */
  degrade: z.strictObject({ output: mappingSchema, note: z.string() }).optional(),
  max_paid_calls: z.int().min(1).max(20).optional(),
  /**
   * How far a result reaches for the same inputs of the same row. `generation` (default): until the stage is asked for
   * anew, which makes everything anew. `always`: beyond that, for what only depends on its inputs (an analysis); a
   * degraded result is never taken over.
   */
  reuse: z.enum(['generation', 'always']).optional(),
});

export type SkillDefinition = z.infer<typeof skillSchema>;
export type ParseDefinition = z.infer<typeof parseSchema>;

/** Front matter of `config/prompts/*.md`; the body is the template: `{{name}}`, `{{#name}}…{{/name}}` (when not empty). */
export const promptSchema = z.strictObject({
  prompt: nameSchema,
  version: z.int().min(1).optional(),
  variables: z.record(
    z.string(),
    z.strictObject({ required: z.boolean().optional(), description: z.string().optional() }),
  ),
  /** Model parameters merged last: temperature, maxOutputTokens, format. */
  parameters: mappingSchema.optional(),
  /** `system` part, rendered like the body. */
  system: z.string().optional(),
  /** Always part of what must not appear; see red lines in docs/authoring.md. */
  avoid: z.string().optional(),
});
export type PromptDefinition = z.infer<typeof promptSchema> & { readonly body: string };
