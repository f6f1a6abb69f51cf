/**
 * The protocol's words. 操作 belongs to staff, 状态 to the bot; nothing else steers a row. The words are fixed by the
 * operator's contract and compared after `normalizeWord`.
 */
export const operationWords = ['提交', '通过', '打回', '取消'] as const;
export type OperationWord = (typeof operationWords)[number];

/** `''` is a row that the bot has never touched. */
export const statusWords = ['', '生成中', '待确认', '完成', '失败', '待核对', '已取消'] as const;
export type RowStatus = (typeof statusWords)[number];

/** Zero-width and invisible characters that copy and paste leaves behind (P001): joiners, marks, BOM, soft hyphen. */
const invisible =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/gu;

/** Compatibility-folded, without any white space or invisible character: `"  提交\u3000"` and `"提\u200b交\n"` are 提交. */
export function normalizeWord(text: string): string {
  return text.normalize('NFKC').replace(invisible, '').replace(/\s/gu, '');
}

/** How names of columns are compared: NFKC, outer white space and invisible characters gone; inner spaces count. */
export function normalizeName(text: string): string {
  return text.normalize('NFKC').replace(invisible, '').trim();
}

export function parseOperation(text: string): OperationWord | undefined {
  return operationWords.find((word) => word === text);
}

/** A 状态 that no bot wrote (a stray option, say) reads as undefined. */
export function parseStatus(text: string): RowStatus | undefined {
  return statusWords.find((word) => word === text);
}

/** ① to ⑳, as in 进度 and 报错. */
export function stageNumeral(index: number): string {
  return index < 20 ? String.fromCodePoint(0x2460 + index) : `(${index + 1})`;
}
