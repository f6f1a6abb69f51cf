import { z } from 'zod';
import type { Failure } from '../contract/index.ts';
import type { Engine } from '../engine/ports/index.ts';
import { attemptId, executionId, type JsonObject, type Result } from '../kernel/index.ts';

/**
 * What a command line may ask of the worker that runs beside it. It is stored first (Store.sendControl); the worker takes
 * it up, and answers in the document `control-answer/<id>`, so that an ask survives a worker that is down just now.
 */
const controlSchema = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('cancel'), id: z.string(), execution: z.string(), reason: z.string() }),
  z.object({ ask: z.literal('pause'), id: z.string() }),
  z.object({ ask: z.literal('resume'), id: z.string() }),
  z.object({
    ask: z.literal('resolve'),
    id: z.string(),
    attempt: z.string(),
    taskId: z.string().optional(),
  }),
  z.object({
    ask: z.literal('submit'),
    id: z.string(),
    workflow: z.union([z.string(), z.array(z.string())]),
    planner: z.string().optional(),
    input: z.record(z.string(), z.json()),
    sourceRef: z.string(),
    labels: z.object({
      agent: z.string().exactOptional(),
      agentHash: z.string().exactOptional(),
      stage: z.string().exactOptional(),
      submitter: z.string().exactOptional(),
    }),
    generation: z.int(),
    parent: z.string().optional(),
    rerunFrom: z.string().optional(),
  }),
]);

export type Control = z.infer<typeof controlSchema>;
export const controlAnswers = 'control-answer';

/** What came of a control, as stored for the one who asked. */
export type ControlAnswer =
  | { readonly ok: true; readonly executionId?: string }
  | { readonly ok: false; readonly failure: Failure };

/** Does what was asked. A control that cannot be read is a fault of the asker, told in the answer. */
export async function obeyControl(engine: Engine, value: JsonObject): Promise<ControlAnswer> {
  const parsed = controlSchema.safeParse(value);
  if (!parsed.success) return { ok: false, failure: badControl(z.prettifyError(parsed.error)) };
  const control = parsed.data;
  switch (control.ask) {
    case 'cancel':
      await engine.cancel(executionId(control.execution), control.reason);
      return { ok: true };
    case 'pause':
      await engine.pause();
      return { ok: true };
    case 'resume':
      await engine.resume();
      return { ok: true };
    case 'resolve':
      return answer(
        await engine.resolve(
          attemptId(control.attempt),
          control.taskId === undefined
            ? { kind: 'not-accepted', endExecution: false }
            : { kind: 'accepted', taskId: control.taskId },
        ),
      );
    case 'submit':
      return await obeySubmit(engine, control);
  }
}

async function obeySubmit(engine: Engine, control: Extract<Control, { ask: 'submit' }>): Promise<ControlAnswer> {
  const submitted = await engine.submit({
    workflow: control.workflow,
    ...(control.planner === undefined ? {} : { planner: control.planner }),
    input: control.input,
    sourceRef: control.sourceRef,
    labels: control.labels,
    generation: control.generation,
    idempotencyKey: control.id,
    ...(control.parent === undefined ? {} : { parentId: executionId(control.parent) }),
    ...(control.rerunFrom === undefined ? {} : { rerunFrom: control.rerunFrom }),
  });
  return submitted.ok
    ? { ok: true, executionId: submitted.value.executionId }
    : { ok: false, failure: submitted.failure };
}

function answer(result: Result<void, Failure>): ControlAnswer {
  return result.ok ? { ok: true } : { ok: false, failure: result.failure };
}

function badControl(message: string): Failure {
  return { kind: 'invalid-input', code: 'bad-control', message };
}
