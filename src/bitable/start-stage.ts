import { failureRule, type StageDefinition } from '../contract/index.ts';
import type { ExecutionId, JsonObject } from '../kernel/index.ts';
import { fail, ok } from '../kernel/index.ts';
import { keepAgent } from './agent-snapshot.ts';
import { readSelect } from './codec-read.ts';
import { type Hub, refOf, type RowPlace, stageAt } from './hub.ts';
import { collectInputs, emptyTextWords, type FetchFile, type StageContext } from './inputs.ts';
import { stageSourceRef } from './refs.ts';
import { type RowDocument, stageOf, withStage } from './row-documents.ts';
import { inputSignature } from './row-facts.ts';

export interface StartRequest {
  readonly place: RowPlace;
  readonly fields: JsonObject;
  readonly row: RowDocument;
  readonly stage: number;
  /** The command's id, or the execution that chains into this one: the same key starts the same execution. */
  readonly idempotencyKey: string;
  /** Asked once more before the engine is: staff may have typed 取消 meanwhile. */
  readonly isWanted: () => Promise<boolean>;
}

export type StartOutcome =
  | {
      readonly kind: 'started';
      readonly executionId: string;
      /** The row while the execution runs: a change to the row as it is then, which may be later than the one that was read. */
      readonly mark: (now: RowDocument) => RowDocument;
    }
  /** Nothing was bought; `words` go to 报错. */
  | { readonly kind: 'refused'; readonly words: string }
  | { readonly kind: 'unwanted' };

/**
 * Collects a stage's inputs into the spool and submits its workflow to the engine. Repeatable: the files are remembered,
 * the key makes it one execution.
 */
export async function startStage(hub: Hub, request: StartRequest): Promise<StartOutcome> {
  const { place, fields, row } = request;
  const { agent, columns } = place.table;
  const stage = stageAt(agent, request.stage);
  const context: StageContext = { agent, stage, columns, fields, row, recordId: place.recordId };
  // Submitted before a crash: it runs whatever has become of the row's inputs since, and must not be lost sight of.
  const known = await hub.deps.store.executionByKey(request.idempotencyKey);
  if (known !== undefined) return started(hub, request, context, known.id);
  const input = await collectInputs(context, filesOf(hub, place));
  if (!input.ok) return { kind: 'refused', words: input.failure };
  if (!(await request.isWanted())) return { kind: 'unwanted' };
  const { workflow, planner } = chosenWorkflow(stage, context);
  const receipt = await hub.deps.engine.submit({
    workflow,
    ...(planner === undefined ? {} : { planner }),
    input: input.value,
    sourceRef: stageSourceRef(refOf(place), stage.stage),
    labels: {
      agent: agent.agent,
      agentHash: await keepAgent(hub.deps.store, agent),
      stage: stage.stage,
      ...(row.submitter === '' ? {} : { submitter: row.submitter }),
    },
    generation: stageOf(row, stage.stage).generation,
    idempotencyKey: request.idempotencyKey,
  });
  if (receipt.ok) return started(hub, request, context, receipt.value.executionId);
  const { kind, code, message, advice } = receipt.failure;
  hub.deps.logger.warn('the engine refused a row', { kind, code, message });
  const words = advice ?? (kind === 'invalid-input' ? emptyTextWords(context) : undefined);
  return { kind: 'refused', words: words ?? failureRule(kind).staffText };
}

function filesOf(hub: Hub, { table, recordId }: RowPlace): FetchFile {
  return async (column, file) => {
    const fetched = await hub.attachments({ table: table.table, recordId, column }, file);
    return fetched.ok ? ok(fetched.value) : fail(fetched.failure.words);
  };
}

/**
 * Fetches a stage's input files while its word is being cleared: the start then finds them in the spool. Nothing depends on
 * it; what went wrong is met again, and told, when the stage starts.
 */
export function prefetchInputs(hub: Hub, request: Pick<StartRequest, 'place' | 'fields' | 'row' | 'stage'>): void {
  const { place, fields, row } = request;
  const { agent, columns } = place.table;
  const context: StageContext = {
    agent,
    stage: stageAt(agent, request.stage),
    columns,
    fields,
    row,
    recordId: place.recordId,
  };
  void collectInputs(context, filesOf(hub, place)).catch((error: unknown) => {
    if (!hub.signal.aborted) hub.deps.logger.debug('inputs were not fetched ahead', { error: String(error) });
  });
}

function started(hub: Hub, request: StartRequest, context: StageContext, executionId: ExecutionId): StartOutcome {
  const { agent, stage, columns, fields, row } = context;
  const startedFrom = inputSignature(agent, stage, columns, fields, row);
  const startedAt = hub.deps.clock.nowMs();
  const mark = (now: RowDocument): RowDocument =>
    withoutHeld({
      ...withStage(now, stage.stage, { startedFrom, hints: [] }),
      status: '生成中',
      stage: request.stage,
      current: { executionId, stage: stage.stage, startedAt },
    });
  return { kind: 'started', executionId, mark };
}

/** One workflow, or those among which the planner chooses; an input that names one saves the planner. */
function chosenWorkflow(
  stage: StageDefinition,
  context: StageContext,
): { readonly workflow: string | readonly string[]; readonly planner?: string } {
  const choice = stage.choose_by;
  if (choice !== undefined) {
    const column = context.columns.inputs.get(choice.input);
    const chosen = choice.values[readSelect(context.fields[column?.name ?? ''])];
    if (chosen !== undefined) return { workflow: chosen };
  }
  if (typeof stage.workflow === 'string' || stage.planner === undefined) return { workflow: stage.workflow };
  return { workflow: stage.workflow, planner: stage.planner };
}

/** A new start leaves nothing in doubt behind. */
export function withoutHeld(row: RowDocument): RowDocument {
  const { heldAttemptId, ...rest } = row;
  return heldAttemptId === undefined ? row : rest;
}
