import { isJsonObject } from '../../kernel/index.ts';
import { openCall } from './open-call.ts';
import type { Services } from './services.ts';
import type { CallEnd, CallOwner, LiveAttempt, SkillCall } from './types.ts';
import type { AskJudge } from './use-output.ts';

/**
 * A judge is a skill called for a node: its purchases are the node's, its result is remembered like any other (after a
 * crash the same output is not judged twice for money). A judge that cannot be asked never costs a paid result.
 */
export function askJudge(
  services: Services,
  call: SkillCall,
  attempt: LiveAttempt,
  proceed: (judge: SkillCall) => void,
): AskJudge {
  return async (rule, output) => {
    const definition = call.skill.rules[rule];
    if (definition?.kind !== 'judge') return { kind: 'ok' };
    const { promise, resolve } = Promise.withResolvers<CallEnd>();
    const path = `${call.path}#judge${rule}.${attempt.record.ordinal}`;
    const opened = await openCall(services, path, () => ({
      run: call.run,
      owner: judgeOwner(call, resolve),
      path,
      title: call.title,
      skill: call.run.plan.skill(definition.judge),
      input: definition.input?.resolve({ input: call.input, output, params: call.params }) ?? {
        input: call.input,
        output,
      },
      params: {},
      retry: undefined,
      paid: call.paid,
      // The output need not show in the judge's prompt as a text: its purchase stands for it.
      occurrence: attempt.record.id,
      deadlineAt: call.deadlineAt,
      mayReuse: true,
      wake: proceed,
    }));
    if (opened.kind === 'call') proceed(opened.call);
    const ended = opened.kind === 'call' ? await promise : opened.end;
    // Its output is for a later execution to judge: it must not pass for one that no judge could be asked about.
    if (ended.kind === 'canceled' && call.run.stopping() === 'canceled') return { kind: 'canceled' };
    if (ended.kind !== 'succeeded' || !isJsonObject(ended.output)) return { kind: 'unavailable' };
    if (ended.output['ok'] === true) return { kind: 'ok' };
    const { reasons } = ended.output;
    const words = Array.isArray(reasons) ? reasons.filter((each): each is string => typeof each === 'string') : [];
    return { kind: 'refused', reasons: words.length === 0 ? ['the judge refused the result'] : words };
  };
}

/** A judge in doubt holds the node that asked for it, until its verdict has come. */
function judgeOwner(call: SkillCall, resolve: (end: CallEnd) => void): CallOwner {
  let isHeld = false;
  const goesOn = (): void => {
    if (isHeld) call.owner.works(call);
    isHeld = false;
  };
  return {
    waits: goesOn,
    works: goesOn,
    held: (_judge, attempt, failure) => {
      isHeld = true;
      call.owner.held(call, attempt, failure);
    },
    ended: (_judge, end) => {
      resolve(end);
    },
  };
}
