import type { JsonObject } from '../../kernel/index.ts';
import type { Mark } from '../ports/index.ts';
import type { LiveAttempt, SkillCall, WaitReason } from './types.ts';

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
  for (const text of adjustmentsOf(record.request)) {
    marks.push({ kind: 'adjusted', node: call.path, text: `「${call.title}」${text}` });
  }
  if (charge?.state === 'settled' && charge.source === 'price_table') {
    marks.push({ kind: 'estimated', node: call.path, text: `「${call.title}」的成本按价目表估算` });
  }
  if (charge?.state === 'settled' && charge.source === 'unpriced') {
    marks.push({ kind: 'estimated', node: call.path, text: `「${call.title}」的成本待厂商月账单` });
  }
  return marks;
}

/** What the adapter changed to fit the model, as it lies with the intent. */
function adjustmentsOf(request: JsonObject): readonly string[] {
  const { adjustments } = request;
  return Array.isArray(adjustments) ? adjustments.filter((each) => typeof each === 'string') : [];
}

export function degradedMark(path: string, title: string, note: string): Mark {
  return { kind: 'degraded', node: path, text: `「${title}」已降级：${note}` };
}

export function lateMark(path: string, title: string): Mark {
  return { kind: 'late', node: path, text: `「${title}」的结果晚到，已补上` };
}

/** Why a node waits, for 进度. */
export function waitWords(reason: WaitReason): string {
  switch (reason) {
    case 'paused':
      return '已暂停接新任务';
    case 'disk':
      return '服务器磁盘空间不足';
    case 'budget':
      return '已达预算上限';
    case 'slot':
      return '等待空闲通道';
    case 'provider-paused':
      return '厂商暂停中，稍后自动再试';
    case 'retry':
      return '稍后自动重试';
  }
}
