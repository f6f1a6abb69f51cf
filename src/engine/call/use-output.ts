import { capability, type Failure, isRemoteMedia } from '../../contract/index.ts';
import { fail, isJsonObject, type Json, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import { isJsonList } from '../graph/path.ts';
import type { Mark } from '../ports/index.ts';
import { parseAnswer } from '../skill/parse-answer.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent } from './events.ts';
import { filmMarks } from './film-marks.ts';
import type { Services } from './services.ts';
import type { LiveAttempt, SkillCall } from './types.ts';

/** What checking a paid output came to. */
export type OutputVerdict =
  | { readonly kind: 'good'; readonly output: JsonObject; readonly marks: readonly Mark[] }
  /** Written on the attempt; the reasons feed the next one. */
  | { readonly kind: 'refused' }
  /** A cancel came while it was judged; nothing is written, so that it is found again. */
  | { readonly kind: 'canceled' }
  /** It cannot be had: moving it failed, or the vendor has thrown it away. Nothing is bought for that. */
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Asks a judge: its reasons when it refuses, `unavailable` when it could not be asked, `canceled` with its execution. */
export type AskJudge = (
  rule: number,
  output: JsonObject,
) => Promise<
  | { readonly kind: 'ok' | 'unavailable' | 'canceled' }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] }
>;

/**
 * From the vendor's output to the skill's: capability schema, media collected, text parsed, output schema, then the
 * skill's own checks. The purchase is settled and booked by now, and stays so whatever comes out here.
 */
export async function useOutput(
  services: Services,
  call: SkillCall,
  live: LiveAttempt,
  askJudge: AskJudge,
): Promise<OutputVerdict> {
  const { definition } = call.skill.plan;
  const raw = live.record.output ?? {};
  const shape = capability(definition.capability).output.safeParse(raw);
  if (!shape.success) return await refuse(services, live, [`the output does not fit ${definition.capability}`]);
  const collected = await collectMedia(services, raw, `${call.path}-${live.record.ordinal}`);
  if (!collected.ok) return await lost(services, live, collected.failure);
  services.deps.failpoints.hit('collect:after-download');
  const output = readOutput(call, collected.value);
  if (!output.ok) return await refuse(services, live, output.failure);
  const fits = call.skill.checkOutput?.(output.value);
  if (fits?.ok === false) return await refuse(services, live, [`the output does not fit its schema: ${fits.failure}`]);
  const verdict = await verify(call, output.value, askJudge);
  if (verdict === 'canceled') return { kind: 'canceled' };
  if (verdict.reasons.length > 0) return await refuse(services, live, verdict.reasons);
  return { kind: 'good', output: output.value, marks: [...verdict.marks, ...filmMarks(call, live, output.value)] };
}

function readOutput(call: SkillCall, output: JsonObject): Result<JsonObject, readonly string[]> {
  const { definition } = call.skill.plan;
  if (definition.capability !== 'text.generate' && definition.capability !== 'image.analyze') return ok(output);
  const { text, finish } = output;
  return parseAnswer(
    definition.parse,
    typeof text === 'string' ? text : '',
    typeof finish === 'string' ? finish : 'other',
  );
}

async function verify(
  call: SkillCall,
  output: JsonObject,
  askJudge: AskJudge,
): Promise<{ reasons: readonly string[]; marks: readonly Mark[] } | 'canceled'> {
  const marks: Mark[] = [];
  for (const [at, rule] of call.skill.rules.entries()) {
    if (rule.kind === 'cel') {
      const holds = rule.rule.holds({ input: call.input, output });
      if (!holds.ok) return { reasons: [`${rule.reason} (${holds.failure})`], marks };
      if (!holds.value) return { reasons: [rule.reason], marks };
      continue;
    }
    const judged = await askJudge(at, output);
    if (judged.kind === 'canceled') return 'canceled';
    if (judged.kind === 'refused') return { reasons: judged.reasons, marks };
    if (judged.kind === 'unavailable') {
      marks.push({ kind: 'degraded', node: call.path, text: `「${call.title}」的质检暂不可用，结果未经检查` });
    }
  }
  return { reasons: [], marks };
}

/** The purchase was fine, its output is not: said on the attempt, so that nobody uses it again. */
async function refuse(services: Services, live: LiveAttempt, reasons: readonly string[]): Promise<OutputVerdict> {
  await markRefused(services, live, reasons);
  return { kind: 'refused' };
}

/** A result that the vendor has thrown away cannot be had by a later execution either; one that was not moved can. */
async function lost(services: Services, live: LiveAttempt, failure: Failure): Promise<OutputVerdict> {
  if (failure.kind === 'expired')
    await markRefused(services, live, [`the vendor no longer has the result: ${failure.message}`]);
  return { kind: 'failed', failure };
}

async function markRefused(services: Services, live: LiveAttempt, reasons: readonly string[]): Promise<void> {
  const record = { ...live.record, refusedOutput: reasons };
  const at = services.deps.clock.nowMs();
  await commitAnswer(services, [
    { type: 'put-attempt', record, expected: ['succeeded'] },
    attemptEvent(record, at, 'output-refused', { reasons }),
  ]);
  live.record = record;
}

/** Moves whatever still lies at a vendor's address into the spool, in place. */
export async function collectMedia(
  services: Services,
  value: JsonObject,
  nameHint: string,
): Promise<Result<JsonObject, Failure>> {
  let index = 0;
  const walk = async (each: Json | undefined): Promise<Result<Json, Failure>> => {
    if (isRemoteMedia(each)) {
      index += 1;
      const { deps } = services;
      const artifact = await deps.collector.collect(each, `${nameHint}-${index}`, services.signal);
      return artifact.ok ? ok({ ...artifact.value }) : fail(artifact.failure);
    }
    if (isJsonList(each)) {
      const list: Json[] = [];
      for (const element of each) {
        const moved = await walk(element);
        if (!moved.ok) return moved;
        list.push(moved.value);
      }
      return ok(list);
    }
    if (!isJsonObject(each)) return ok(each ?? null);
    const members: Record<string, Json> = {};
    for (const [name, member] of Object.entries(each)) {
      const moved = await walk(member);
      if (!moved.ok) return moved;
      members[name] = moved.value;
    }
    return ok(members);
  };
  const moved = await walk(value);
  if (!moved.ok) return moved;
  return isJsonObject(moved.value) ? ok(moved.value) : ok({});
}
