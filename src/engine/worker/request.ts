import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../kernel/index.ts';

/** What a submission says beside the execution's record; kept as a document until the execution has ended. */
export interface ExecutionRequest {
  readonly params: JsonObject;
  readonly rerunFrom?: string;
  readonly choice?: { readonly planner: string; readonly workflows: readonly string[] };
}

export const requestCollection = 'engine.request';

const stored = z.object({
  params: z.custom<JsonObject>(isJsonObject).catch({}),
  rerunFrom: z.string().optional(),
  choice: z.object({ planner: z.string(), workflows: z.array(z.string()) }).optional(),
});

export function readRequest(value: JsonObject | undefined): ExecutionRequest {
  const { params, rerunFrom, choice } = stored.parse(value ?? {});
  return { params, ...(rerunFrom === undefined ? {} : { rerunFrom }), ...(choice === undefined ? {} : { choice }) };
}

/** The document's value, or undefined when there is nothing to keep. */
export function writeRequest(request: ExecutionRequest): JsonObject | undefined {
  const { params, rerunFrom, choice } = request;
  if (Object.keys(params).length === 0 && rerunFrom === undefined && choice === undefined) return undefined;
  return {
    params,
    ...(rerunFrom === undefined ? {} : { rerunFrom }),
    ...(choice === undefined ? {} : { choice: { planner: choice.planner, workflows: [...choice.workflows] } }),
  };
}
