import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction, refuseInput } from '../define.ts';
import { readKeywordLines, replacePlaceholders } from '../text/fill-placeholders.ts';

export interface ScriptShot {
  readonly number: number;
  readonly picture: string;
}

/** Most shots that one storyboard is bought for, whatever a script says. */
const maxShots = 9;

const scriptInput = z.strictObject({ script: z.string() });

/**
 * `script.shots {script}` → `{count, shots: [{number, picture}]}`: the shots of a script that staff may have edited, by
 * code. It gives the number that is agreed with staff, and the wording itself when no model can transcribe it.
 */
export const readScriptShots: NodeFunction = defineFunction('script.shots', scriptInput, ({ script }) => {
  const shots = splitShots(script);
  if (shots.length === 0) {
    const advice = '「脚本方案」里没有认出镜头，请每个镜头写一行并以「镜头1」「镜头2」开头，再选「提交」。';
    return Promise.resolve(refuseInput('script-without-shots', 'no shots in the script', advice));
  }
  if (shots.length > maxShots) {
    const advice = `「脚本方案」有 ${shots.length} 个镜头，最多 ${maxShots} 个，请删减后再选「提交」。`;
    return Promise.resolve(refuseInput('script-too-long', `${shots.length} shots`, advice));
  }
  return Promise.resolve(ok({ count: shots.length, shots: shots.map((shot) => ({ ...shot })) }));
});

/**
 * A shot begins with `镜头1`, `镜头一`, `Shot 1`, `1.` or `1、` at the start of a line and goes on to the next beginning.
 * Shots are numbered by their order: staff who delete one need not renumber. Without any such mark each non-empty line
 * is a shot.
 */
export function splitShots(script: string): readonly ScriptShot[] {
  const lines = script.split(/\r?\n/).map((line) => line.trim());
  const marked =
    /^(?:[#*\-\s]*)(?:(?:第\s*)?(?:镜头|分镜|镜)\s*[0-9一二三四五六七八九十]+\s*镜?|第\s*[0-9一二三四五六七八九十]+\s*(?:镜头|镜)|shot\s*\d+|\d{1,2}\s*[.、）)])/i;
  const isMarked = lines.some((line) => marked.test(line));
  const texts: string[] = [];
  for (const line of lines) {
    if (line === '') continue;
    if (!isMarked || marked.test(line)) texts.push(line.replace(isMarked ? marked : /^$/, '').replace(/^[：:\s]+/, ''));
    else if (texts.length > 0) texts[texts.length - 1] = `${texts.at(-1) ?? ''} ${line}`;
  }
  return texts.filter((text) => text !== '').map((picture, index) => ({ number: index + 1, picture }));
}

/** What stands for a placeholder whose keyword line staff have deleted: a picture model must never see braces. */
const plainNames = { 角色: 'the model', 产品: 'the product' };

const fillInput = z.strictObject({
  shots: z.array(z.looseObject({ number: z.int(), picture: z.string().min(1) })).min(1),
  keywords: z.string(),
});

/**
 * `script.fill-shots {shots, keywords}` → `{shots, panels}`: `{角色}` and `{产品}` become the keywords' own words in every
 * shot, so that no model rephrases them; `panels` is all shots as one numbered text.
 */
export const fillShots: NodeFunction = defineFunction('script.fill-shots', fillInput, ({ shots, keywords }) => {
  const values = { ...plainNames, ...readKeywordLines(keywords) };
  const filled = [...shots]
    .sort((left, right) => left.number - right.number)
    .map((shot) => ({ number: shot.number, picture: replacePlaceholders(shot.picture, values) }));
  const panels = filled.map((shot) => `Panel ${shot.number}: ${shot.picture}`).join('\n');
  return Promise.resolve(ok({ shots: filled, panels }));
});
