import { isArtifact } from '../../contract/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import { isJsonList } from '../graph/path.ts';
import type { Mark } from '../ports/index.ts';
import type { LiveAttempt, SkillCall } from './types.ts';

/** A film that has less than this of the length that was paid for, and a second less at least, is told. */
const shortRatio = 0.8;

/**
 * A film that is not what was asked for is kept and used: it is paid. Staff are told (P087). What the adapter changed before
 * it bought is told already, so the length is held against what was really ordered. A skill that will not have such a film
 * says so in `verify`.
 */
export function filmMarks(call: SkillCall, { record }: LiveAttempt, output: JsonObject): readonly Mark[] {
  if (record.capability !== 'video.generate') return [];
  const asked = memberOf(record.request, 'input');
  const ordered = memberOf(record.request, 'body')['seconds'] ?? asked['durationS'];
  const texts: string[] = [];
  for (const film of listOf(output['videos'])) {
    if (!isArtifact(film) || film.film === undefined) continue;
    const { durationMs, hasSound } = film.film;
    if (typeof ordered === 'number' && durationMs !== undefined && isShort(durationMs, ordered * 1_000)) {
      texts.push(`成片只有 ${secondsOf(durationMs)} 秒，要的是 ${ordered} 秒`);
    }
    if (asked['audio'] === true && !hasSound) texts.push('要求有声，成片没有声音');
  }
  return [...new Set(texts)].map((text) => ({ kind: 'adjusted', node: call.path, text: `「${call.title}」${text}` }));
}

function isShort(durationMs: number, orderedMs: number): boolean {
  return durationMs < orderedMs * shortRatio && orderedMs - durationMs >= 1_000;
}

function secondsOf(durationMs: number): string {
  return String(Math.round(durationMs / 100) / 10);
}

function memberOf(value: JsonObject, name: string): JsonObject {
  const member = value[name];
  return isJsonObject(member) ? member : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return isJsonList(value) ? value : [];
}
