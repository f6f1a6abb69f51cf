import { type Failure, failureRule } from '../contract/index.ts';
import type { Mark, OutboxMessage } from '../engine/ports/index.ts';
import { formatMicros, type Money } from '../kernel/index.ts';

/** Longest piece of a vendor's own words that goes into a cell. */
const maxVendorWords = 200;

/** What staff read in 报错 when a stage has failed: where, what, what to do, and the vendor's own words. */
export function failureWords(label: string, failure: Failure | undefined, failedNode: string | undefined): string {
  const where = failedNode === undefined || failedNode === '' ? '' : `${failedNode}：`;
  if (failure === undefined) return `${label}失败：${where}原因不明，可再选「提交」重试。`;
  const advice = failure.advice ?? failureRule(failure.kind).staffText;
  return `${label}失败：${where}${advice}${vendorWords(failure)}`;
}

/** `（kie · 422 · 任务 abc：image contains a person）`: who said no, in its words, for those who ask the vendor. */
function vendorWords(failure: Failure): string {
  const facts = [failure.provider, failure.code === '' ? undefined : failure.code].filter((fact) => fact !== undefined);
  const words = Object.entries(failure.evidence ?? {})
    .flatMap(([key, value]) => (typeof value === 'string' || typeof value === 'number' ? [`${key} ${value}`] : []))
    .join('，')
    .slice(0, maxVendorWords);
  const text = [facts.join(' · '), words].filter((part) => part !== '').join('：');
  return text === '' ? '' : `（${text}）`;
}

/** A partial result: which items are missing and why, and that only those are made again. */
export function partialWords(label: string, marks: readonly Mark[], failure: Failure | undefined): string {
  const missing = marks.filter((mark) => mark.kind === 'partial').map((mark) => mark.text);
  const reasons = missing.length > 0 ? missing.join('；') : failureWords(label, failure, undefined);
  return `${label}部分完成：${reasons}。已完成的已放进表格；再选「提交」只补缺的部分。`;
}

/** A call in doubt: vendor, call, sum at risk, and the three ways out. */
export function heldWords(label: string, message: Extract<OutboxMessage, { kind: 'held' }>): string {
  const { failure } = message;
  const vendor = failure.provider ?? '厂商';
  const what = failure.kind === 'overdue' ? '已超过等待时限，厂商可能仍在生成' : '没有收到答复，厂商可能已受理';
  // An overdue call was accepted: who buys again pays for both.
  const ways =
    failure.kind === 'overdue'
      ? '不想再等：选「提交」重新购买（原调用仍可能计费），或选「取消」'
      : '确认厂商没有受理：选「提交」重新购买，或选「取消」';
  return [
    `${label}待核对：${message.failedNode} 在 ${vendor} 的调用${what}，涉及约 ${moneyWords(message.atRisk)}（调用号 ${message.attemptId}）。`,
    '管理员已收到提醒，结果到了会自动补上。',
    `${ways}；已拿到成品：放进单元格后选「提交」。`,
  ].join('');
}

function moneyWords(sum: Money): string {
  const amount = formatMicros(sum.micros, 4).replace(/\.?0+$/, '');
  if (sum.currency === 'CNY') return `${amount} 元`;
  return sum.currency.startsWith('credit:') ? `${amount} 积分` : `${amount} ${sum.currency}`;
}

/** Lines of 提示 for a stage: what staff should know although it went well. */
export function hintLines(label: string, marks: readonly Mark[]): string[] {
  const texts = marks.filter((mark) => mark.kind !== 'partial').map((mark) => mark.text);
  return foldNames(texts).map((text) => `${label}：${text}`);
}

/** What is said of several nodes in the same words (`「画图」的成本…`) is one line that names them all. */
function foldNames(texts: readonly string[]): readonly string[] {
  const namesOf = new Map<string, Set<string>>();
  for (const text of texts) {
    const name = /^「[^「」]*」/.exec(text)?.[0] ?? '';
    const rest = text.slice(name.length);
    namesOf.set(rest, (namesOf.get(rest) ?? new Set()).add(name));
  }
  return [...namesOf].map(([rest, names]) => `${[...names].join('')}${rest}`);
}
