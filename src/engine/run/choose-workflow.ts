import type { Failure } from '../../contract/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import { advance } from '../call/advance.ts';
import { eventOf } from '../call/events.ts';
import { maxPaidCalls } from '../call/history.ts';
import { openCall } from '../call/open-call.ts';
import type { CallEnd, CallOwner, CallRun, SkillCall } from '../call/types.ts';
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
  choice: Choice,
): Promise<Failure | 'chosen' | 'canceled'> {
  const { end, fingerprint } = await askPlanner(run, callRun, choice);
  resumeExecution(run);
  if (end.kind === 'canceled') return 'canceled';
  if (end.kind === 'failed') return end.failure;
  const output: JsonObject = isJsonObject(end.output) ? end.output : {};
  const chosen = choice.workflows.find((name) => name === output['workflow']);
  if (chosen === undefined) {
    const message = `the planner chose ${JSON.stringify(output['workflow'] ?? null)}, which is none of ${choice.workflows.join(', ')}`;
    return { kind: 'output-invalid', code: 'planner-choice', message };
  }
  const at = run.services.deps.clock.nowMs();
  const reasons = output['reasons'] ?? output['reason'] ?? null;
  const isWritten = await run.journal.write([
    ...resultCommands(run, plannerPath, end, fingerprint),
    putExecution(run, { workflow: chosen }),
    eventOf(run.record, at, 'workflow-chosen', { workflow: chosen, planner: choice.planner, reasons }),
  ]);
  return isWritten ? 'chosen' : 'canceled';
}

interface Choice {
  readonly planner: string;
  readonly workflows: readonly string[];
}

async function askPlanner(
  run: Run,
  callRun: CallRun,
  choice: Choice,
): Promise<{ readonly end: CallEnd; readonly fingerprint: string | undefined }> {
  const { services } = run;
  const { promise, resolve } = Promise.withResolvers<CallEnd>();
  const wake = (call: SkillCall): void => {
    advance(services, call);
  };
  const opened = await openCall(services, plannerPath, () => {
    const skill = run.plan.skill(choice.planner);
    const title = skill.plan.definition.title ?? choice.planner;
    const { graphs } = run.plan.plan;
    const workflows = choice.workflows.map((name): Json => ({ name, title: graphs[name]?.title ?? name }));
    return {
      run: callRun,
      owner: plannerOwner(run, title, resolve),
      path: plannerPath,
      title,
      skill,
      input: { ...run.record.input, workflows },
      params: {},
      retry: undefined,
      paid: paidCallsOf(run, plannerPath, maxPaidCalls(services, skill.plan.definition)),
      occurrence: 0,
      deadlineAt: undefined,
      mayReuse: true,
      wake,
    };
  });
  if (opened.kind === 'end') return { end: opened.end, fingerprint: opened.fingerprint };
  wake(opened.call);
  return { end: await promise, fingerprint: opened.fingerprint };
}

/** The planner stands outside any graph: its doubts are told as the execution's. */
function plannerOwner(run: Run, title: string, resolve: (end: CallEnd) => void): CallOwner {
  return {
    // A verdict has come, if it was held.
    waits: () => {
      resumeExecution(run);
    },
    works: () => {
      resumeExecution(run);
    },
    held: (_call, attempt, failure) => {
      if (run.record.status === 'held') return;
      holdExecution(run, run.toldHeld.has(plannerPath) ? [] : tellHeld(run, plannerPath, title, { attempt, failure }));
    },
    ended: (_call, end) => {
      resolve(end);
    },
  };
}
