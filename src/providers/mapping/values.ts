import type { FieldMapping } from '../../contract/index.ts';
import { fail, type Json, ok, type Result } from '../../kernel/index.ts';
import { countCharacters, describeJson } from './input.ts';

/** A value in the model's own spelling and type, or what is wrong with it, and what was changed to fit. */
export interface FittedValue {
  readonly value: Json;
  /** Words for staff when the value is not the one that was asked for. */
  readonly adjusted?: string;
}

const neutralTitles: Readonly<Record<string, string>> = {
  durationS: '时长（秒）',
  ratio: '画幅比例',
  resolution: '清晰度',
  count: '张数',
  audio: '声音',
  seed: '随机种子',
  prompt: '提示词',
};

function titleOf(name: string): string {
  return neutralTitles[name] ?? name;
}

/** Words for staff when a model has no say in something that was asked for. */
export function droppedWords(name: string, given: Json): string {
  return `${titleOf(name)} ${describeJson(given)} 未生效（此模型不支持设置）`;
}

/** Translates one plain value by its field's map, type and limits. */
export function fitValue(name: string, given: Json, field: FieldMapping): Result<FittedValue, string> {
  const mapped = field.map?.[describeJson(given)] ?? given;
  const typed = toType(mapped, field.as);
  if (typed === undefined) return fail(`"${describeJson(given)}" is not ${field.as ?? 'a value'} that the model takes`);
  if (typeof typed === 'string' && field.max_chars !== undefined) {
    const length = countCharacters(typed);
    if (length > field.max_chars) {
      return fail(`${length} characters, the model takes at most ${field.max_chars}; shorten it`);
    }
  }
  if (field.values === undefined || field.values.some((value) => value === typed)) return ok({ value: typed });
  const known = field.values.map(describeJson).join(', ');
  if (field.adjust !== 'nearest') return fail(`"${describeJson(typed)}" is not one of ${known}`);
  const nearest = nearestOf(typed, field.values);
  if (nearest === undefined) return fail(`"${describeJson(typed)}" is not near one of ${known}`);
  return ok({
    value: nearest,
    adjusted: `${titleOf(name)} ${describeJson(given)} 改为 ${describeJson(nearest)}（此模型只支持 ${known}）`,
  });
}

function toType(value: Json, type: FieldMapping['as']): Json | undefined {
  if (type === 'string') return typeof value === 'string' ? value : describeJson(value);
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (type !== 'integer' && type !== 'number') return value;
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : Number.NaN;
  if (!Number.isFinite(number) || (type === 'integer' && !Number.isInteger(number))) return undefined;
  return number;
}

/** The allowed number that is nearest; of two equally near ones the larger: nobody gets less than asked without need. */
function nearestOf(value: Json, allowed: readonly Json[]): Json | undefined {
  const wanted = Number(value);
  if (!Number.isFinite(wanted)) return undefined;
  let best: { readonly value: Json; readonly gap: number; readonly size: number } | undefined;
  for (const candidate of allowed) {
    const size = Number(candidate);
    if (!Number.isFinite(size)) continue;
    const gap = Math.abs(size - wanted);
    if (best === undefined || gap < best.gap || (gap === best.gap && size > best.size)) {
      best = { value: candidate, gap, size };
    }
  }
  return best?.value;
}
