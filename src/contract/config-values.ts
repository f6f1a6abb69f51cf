import { z } from 'zod';
import { isCapabilityId } from './capability.ts';
import { isFailureKind } from './failure.ts';
import { parseDuration } from '../kernel/index.ts';

/** `30s` in the file, milliseconds inside. */
export const durationSchema = z.string().transform((text, context) => {
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.value;
  context.addIssue({ code: 'custom', message: parsed.failure });
  return z.NEVER;
});

/** Names of agents, workflows, nodes, skills, prompts, providers, models. */
export const nameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]*$/, 'use lower-case letters, digits, "-", "_" and "."');
export const nodeIdSchema = z.string().regex(/^[a-z][a-z0-9_]*$/, 'use lower-case letters, digits and "_"');

export const capabilityIdSchema = z.string().refine(isCapabilityId, 'not a capability');
export const failureKindSchema = z.string().refine(isFailureKind, 'not a failure kind');

/** A JSON Schema (2020-12), compiled and checked at load. */
export const jsonSchemaSchema = z.record(z.string(), z.json());

/** A value of an input mapping: a literal, or `$.input.x` / `$.nodes.id.output.x` / `$.item` / `$.params.x` anywhere inside. */
export const mappingSchema = z.record(z.string(), z.json());
