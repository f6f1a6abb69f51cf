import type { Failure } from '../../contract/index.ts';
import { executionId, type ExecutionId, fail, ok, type Result } from '../../kernel/index.ts';
import { eventOf } from '../call/events.ts';
import type { EngineDeps } from '../deps.ts';
import type { LivePlan } from '../graph/live.ts';
import {
  ConflictError,
  type ExecutionRecord,
  type StoreCommand,
  StorageError,
  type SubmitReceipt,
  type SubmitRequest,
} from '../ports/index.ts';
import { createRun, openRun } from '../run/open-run.ts';
import type { Plans } from './plans.ts';
import type { TakeUp } from './take-up.ts';
import { type ExecutionRequest, requestCollection, writeRequest } from './request.ts';

interface Submitted {
  readonly receipt: SubmitReceipt;
  /** Where it was created by this call, and this process is to drive it. */
  readonly fresh?: { readonly record: ExecutionRecord; readonly plan: LivePlan; readonly request: ExecutionRequest };
}

/** Stores an execution and, where it is `mine`, drives it from then on in this process. */
export async function submit(
  takeUp: TakeUp,
  request: SubmitRequest,
  mine: boolean,
): Promise<Result<SubmitReceipt, Failure>> {
  const { services, plans, runs, opening } = takeUp;
  const id = executionId(services.deps.ids.uuid());
  // Before it is on disk: a sweep that finds it there must see that it has a driver.
  if (mine) opening.add(id);
  try {
    const submitted = await storeSubmission(services.deps, plans, request, { id, mine });
    if (!submitted.ok) return submitted;
    const { receipt, fresh } = submitted.value;
    if (fresh !== undefined && !runs.has(id)) {
      const run = createRun({ services, ...fresh, nodes: [], attempts: [], ...takeUp.handlers });
      takeUp.adopt(run);
      void services.track(openRun(run, fresh.request));
    }
    return ok(receipt);
  } finally {
    opening.delete(id);
  }
}

/**
 * Stores an execution with its plan and first event in one commit. The same idempotency key gives the same execution,
 * however often and from wherever it is asked. `fresh` is what it becomes where it is new:
 * its id, and whether this process drives it at once; else a worker takes it up.
 */
async function storeSubmission(
  deps: EngineDeps,
  plans: Plans,
  request: SubmitRequest,
  fresh: { readonly id: ExecutionId; readonly mine: boolean },
): Promise<Result<Submitted, Failure>> {
  const known = await deps.store.executionByKey(request.idempotencyKey);
  if (known !== undefined) return ok({ receipt: { executionId: known.id, created: false } });
  const workflows = typeof request.workflow === 'string' ? [request.workflow] : request.workflow;
  const planner = workflows.length > 1 ? request.planner : undefined;
  if (workflows.length > 1 && planner === undefined) {
    return fail({
      kind: 'configuration',
      code: 'no-planner',
      message: `${workflows.join(', ')} need a planner skill that chooses`,
    });
  }
  const plan = plans.current(workflows, planner);
  if (!plan.ok) return plan;
  const [only] = workflows;
  if (planner === undefined && only !== undefined) {
    const checked = plan.value.graph(only).checkInput(request.input);
    if (!checked.ok)
      return fail({
        kind: 'invalid-input',
        code: 'workflow-input',
        message: `the input of workflow ${only} does not fit its schema: ${checked.failure}`,
      });
  }
  const record = newRecord(deps, request, plan.value, fresh);
  const stored: ExecutionRequest = {
    params: request.params ?? {},
    ...(request.rerunFrom === undefined ? {} : { rerunFrom: request.rerunFrom }),
    ...(planner === undefined ? {} : { choice: { planner, workflows } }),
  };
  try {
    await deps.store.commit(creation(deps, plans, plan.value, record, stored));
  } catch (error) {
    return await afterFailedCreation(deps, request, error);
  }
  plans.stored(plan.value);
  const receipt = { executionId: record.id, created: true };
  return ok(fresh.mine ? { receipt, fresh: { record, plan: plan.value, request: stored } } : { receipt });
}

function newRecord(
  deps: EngineDeps,
  request: SubmitRequest,
  plan: LivePlan,
  { id, mine }: { readonly id: ExecutionId; readonly mine: boolean },
): ExecutionRecord {
  return {
    id,
    sourceRef: request.sourceRef,
    labels: request.labels,
    workflow: plan.plan.workflow,
    planHash: plan.hash,
    status: 'queued',
    generation: request.generation,
    idempotencyKey: request.idempotencyKey,
    input: request.input,
    marks: [],
    epoch: mine ? 1 : 0,
    createdAt: deps.clock.nowMs(),
    activeMs: 0,
    ...(mine ? { owner: deps.owner } : {}),
    ...(request.parentId === undefined ? {} : { parentId: request.parentId }),
  };
}

function creation(
  deps: EngineDeps,
  plans: Plans,
  plan: LivePlan,
  record: ExecutionRecord,
  request: ExecutionRequest,
): readonly StoreCommand[] {
  const value = writeRequest(request);
  return [
    ...plans.storeCommands(plan),
    { type: 'create-execution', record },
    ...(value === undefined
      ? []
      : [
          {
            type: 'put-document',
            record: { collection: requestCollection, key: record.id, value, updatedAt: record.createdAt },
          } as const,
        ]),
    eventOf(record, deps.clock.nowMs(), 'execution-queued', {
      workflow: record.workflow,
      generation: record.generation,
    }),
  ];
}

async function afterFailedCreation(
  deps: EngineDeps,
  request: SubmitRequest,
  error: unknown,
): Promise<Result<Submitted, Failure>> {
  if (error instanceof ConflictError && error.code === 'duplicate-key') {
    const winner = await deps.store.executionByKey(request.idempotencyKey);
    if (winner !== undefined) return ok({ receipt: { executionId: winner.id, created: false } });
  }
  if (error instanceof StorageError) return fail({ kind: 'storage', code: 'store', message: error.message });
  throw error;
}
