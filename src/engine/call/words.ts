import type { Mark } from '../ports/index.ts';
import type { LiveAttempt, SkillCall } from './types.ts';

/** Marks of a result, in words for staff. */
export function marksOf(call: SkillCall, attempt: LiveAttempt, candidate: number): readonly Mark[] {
  const marks: Mark[] = [];
  const { record, charge } = attempt;
  if (candidate > 0) {
    marks.push({
      kind: 'switched',
      node: call.path,
      text: `「${call.title}」改用了备用通道 ${record.provider}/${record.model}`,
    });
  }
  if (charge?.state === 'settled' && charge.source === 'price_table') {
    marks.push({ kind: 'estimated', node: call.path, text: `「${call.title}」的成本按价目表估算` });
  }
  if (charge?.state === 'settled' && charge.source === 'unpriced') {
    marks.push({ kind: 'estimated', node: call.path, text: `「${call.title}」的成本待厂商月账单` });
  }
  return marks;
}

export function degradedMark(path: string, title: string, note: string): Mark {
  return { kind: 'degraded', node: path, text: `「${title}」已降级：${note}` };
}

export function uncheckedMark(path: string, title: string): Mark {
  return { kind: 'degraded', node: path, text: `「${title}」的质检暂不可用，结果未经检查` };
}

export function lateMark(path: string, title: string): Mark {
  return { kind: 'late', node: path, text: `「${title}」的结果晚到，已补上` };
}
