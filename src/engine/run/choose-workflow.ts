import type { Failure } from '../../contract/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import { advance } from '../call/advance.ts';
import { eventOf } from '../call/events.ts';
import { maxPaidCalls } from '../call/history.ts';
import { openCall } from '../call/open-call.ts';
import type { CallEnd, CallOwner, CallRun } from '../call/types.ts';
import { holdExecution, resumeExecution, tellHeld } from './hold.ts';
import { putExecution, type Run } from './run.ts';
import { paidCallsOf, resultCommands } from './start-skill.ts';

const plannerPath = '#planner';

/**
 * Lets the planner skill choose among the plan's workflows. It is given the stage's input and `workflows` (name, title),
 * and answers `{workflow, reasons}`. The choice is an event and is written on the execution: a resume reuses it.
 */
export async function chooseWorkflow(
  run: Run,
  callRun: CallRun,
  choice: { readonly planner: string; readonly workflows: readonly string[] },
): Promise<Failure | 'chosen' | 'canceled'> {
  const skill = run.plan.skill(choice.planner);
  const workflows = choice.workflows.map((name): Json => ({ name, title: run.plan.plan.graphs[name]?.title ?? name }));
  const title = skill.plan.definition.title ?? choice.planner;
  let fingerprint: string | undefined;
  const ended = await new Promise<CallEnd>((resolve) => {
    const owner: CallOwner = {
      waits: () => undefined,
      works: () => {
        resumeExecution(run);
      },
      held: (_call, attempt, failure) => {
        if (run.record.status === 'held') return;
        const told = run.toldHeld.has(plannerPath) ? [] : tellHeld(run, plannerPath, title, { attempt, failure });
        holdExecution(run, told);
      },
      ended: (_call, end) => {
        resolve(end);
      },
    };
    void openCall(run.services, {
      run: callRun,
      owner,
      path: plannerPath,
      title,
      skill,
      input: { ...run.record.input, workflows },
      params: {},
      retry: undefined,
      paid: paidCallsOf(run, plannerPath, maxPaidCalls(run.services, skill.plan.definition)),
      occurrence: 0,
      deadlineAt: undefined,
      mayReuse: true,
      wake: (call) => {
        advance(run.services, call);
      },
    }).then((opened) => {
      fingerprint = opened.fingerprint;
      if (opened.kind === 'end') resolve(opened.end);
      else advance(run.services, opened.call);
    });
  });
  resumeExecution(run);
  if (ended.kind === 'canceled') return 'canceled';
  if (ended.kind === 'failed') return ended.failure;
  const output: JsonObject = isJsonObject(ended.output) ? ended.output : {};
  const chosen = choice.workflows.find((name) => name === output['workflow']);
  if (chosen === undefined) {
    return {
      kind: 'output-invalid',
      code: 'planner-choice',
      message: `the planner chose ${JSON.stringify(output['workflow'] ?? null)}, which is none of ${choice.workflows.join(', ')}`,
    };
  }
  const at = run.services.deps.clock.nowMs();
  const isWritten = await run.journal.write([
    ...resultCommands(run, plannerPath, ended, fingerprint),
    putExecution(run, { workflow: chosen }),
    eventOf(run.record, at, 'workflow-chosen', {
      workflow: chosen,
      planner: choice.planner,
      reasons: output['reasons'] ?? output['reason'] ?? null,
    }),
  ]);
  return isWritten ? 'chosen' : 'canceled';
}
