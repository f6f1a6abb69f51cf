import { z } from 'zod';
import { artifactSchema } from '../../contract/index.ts';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { fail, ok } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';

const mergeInput = z.strictObject({
  verdicts: z.array(z.looseObject({ ok: z.boolean(), reasons: z.array(z.string()) }).nullish()),
});

/** `quality.merge {verdicts}` → `{ok, reasons, text}`: good only when every check is; reasons each once. */
export const mergeVerdicts: NodeFunction = defineFunction('quality.merge', mergeInput, ({ verdicts }) => {
  const given = verdicts.flatMap((verdict) => verdict ?? []);
  const reasons = [...new Set(given.flatMap((verdict) => (verdict.ok ? [] : verdict.reasons)))];
  const isGood = given.every((verdict) => verdict.ok);
  return Promise.resolve(ok({ ok: isGood, reasons, text: reasons.map((reason) => `- ${reason}`).join('\n') }));
});

const acceptInput = z.strictObject({ ok: z.boolean(), reasons: z.array(z.string()) });

/** `quality.accept {ok, reasons}`: fails with the reasons; a workflow that delivers all the same falls back, marked. */
export const acceptResult: NodeFunction = defineFunction('quality.accept', acceptInput, ({ ok: isGood, reasons }) => {
  if (isGood) return Promise.resolve(ok({ ok: true }));
  const words = reasons.join('；');
  return Promise.resolve(
    fail({
      kind: 'output-invalid',
      code: 'quality',
      message: words,
      advice: `质检未通过：${words}。可补充要求后再选「提交」。`,
    }),
  );
});

const chooseInput = z.strictObject({
  rounds: z.array(z.looseObject({ image: artifactSchema, ok: z.boolean(), reasons: z.array(z.string()) }).nullish()),
});

/** `quality.choose {rounds}` → `{image, ok, reasons, round}`: the first good round, else the one with the fewest faults. */
export const chooseRound: NodeFunction = defineFunction('quality.choose', chooseInput, ({ rounds }) => {
  const given = rounds.flatMap((round, index) => (round === null || round === undefined ? [] : [{ ...round, index }]));
  const faults = (round: (typeof given)[number]): number => (round.ok ? 0 : 1 + round.reasons.length);
  const best = given.reduce<(typeof given)[number] | undefined>(
    (kept, round) => (kept === undefined || faults(round) < faults(kept) ? round : kept),
    undefined,
  );
  if (best === undefined) {
    return Promise.resolve(fail({ kind: 'internal', code: 'no-round', message: 'no round gave a picture' }));
  }
  const { image, ok: isGood, reasons, index } = best;
  return Promise.resolve(ok({ image: { ...image }, ok: isGood, reasons: isGood ? [] : reasons, round: index + 1 }));
});
