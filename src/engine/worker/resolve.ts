import type { Failure } from '../../contract/index.ts';
import { type AttemptId, type ExecutionId, fail, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import { advance } from '../call/advance.ts';
import type { Services } from '../call/services.ts';
import { settleAttempt } from '../call/settle.ts';
import { recordHandle } from '../call/submit.ts';
import { ownerOfTask } from '../call/task-owner.ts';
import type { LiveAttempt, SkillCall } from '../call/types.ts';
import type { AttemptRecord, ResolveVerdict } from '../ports/index.ts';
import { stopRun } from '../run/open-run.ts';
import type { Run } from '../run/run.ts';

/**
 * A person's word on a call in doubt or overdue. `accepted`: its task is taken up under the id they give. `not-accepted`:
 * nothing was bought; the call goes on by its policy, or the execution ends. Who only gives up waiting for an overdue
 * task says nothing about it: it stays overdue, its bill and its late result are still looked for.
 */
export async function resolveAttempt(
  services: Services,
  runs: ReadonlyMap<ExecutionId, Run>,
  id: AttemptId,
  verdict: ResolveVerdict,
): Promise<Result<void, Failure>> {
  const stored = await services.deps.store.attempt(id);
  if (stored === undefined) return fail(refusal('no-attempt', `no attempt ${id}`));
  if (stored.state !== 'unknown' && stored.state !== 'overdue') {
    return fail(
      refusal('not-in-doubt', `attempt ${id} is ${stored.state}: only a call in doubt or overdue can be resolved`),
    );
  }
  if (stored.state === 'overdue' && verdict.kind === 'not-accepted' && verdict.endExecution) {
    return fail(
      refusal(
        'still-payable',
        `attempt ${id} was accepted by ${stored.provider} and is watched on: cancel its execution`,
      ),
    );
  }
  const run = runs.get(stored.executionId);
  const found = run === undefined ? undefined : findLive(run, id);
  const live: LiveAttempt = found?.live ?? { record: stored, charge: undefined };
  if (verdict.kind === 'accepted') {
    const handle = handleFor(services, stored, verdict.taskId);
    const owner = await ownerOfTask(services.deps.store, stored, handle);
    if (owner !== undefined) {
      return fail(
        refusal('task-taken', `task ${verdict.taskId} belongs to attempt ${owner}: look for this call's own task`),
      );
    }
    await recordHandle(services, live, handle, 'attempt-resolved');
    if (found === undefined) services.watcher.orphan(live);
    services.watcher.hurry(live);
  } else {
    services.watcher.forget(live);
    await settleAttempt(services, live, { state: 'not-accepted', by: 'person' });
    if (verdict.endExecution && run !== undefined) {
      stopRun(run, {
        status: 'failed',
        failure: {
          kind: 'unknown-outcome',
          code: 'not-accepted',
          message: 'a person said that the vendor had not accepted the call',
          provider: stored.provider,
        },
      });
    }
  }
  if (found !== undefined) advance(services, found.call);
  return ok(undefined);
}

function findLive(run: Run, id: AttemptId): { readonly call: SkillCall; readonly live: LiveAttempt } | undefined {
  for (const call of run.calls) {
    const live = call.tries.find((each) => each.attempt?.record.id === id)?.attempt;
    if (live !== undefined) return { call, live };
  }
  return undefined;
}

/** The adapter knows the shape of its handles; without its help the id stands alone. */
function handleFor(services: Services, record: AttemptRecord, taskId: string): JsonObject {
  return services.adapter(record.provider, record.implementation)?.handleFor?.(taskId, record.request) ?? { taskId };
}

function refusal(code: string, message: string): Failure {
  return { kind: 'invalid-input', code, message };
}
