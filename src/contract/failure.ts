import type { JsonObject } from '../kernel/index.ts';

/**
 * What went wrong, as data. `kind` alone decides what happens next (see `failureTable`); `message` is for the log and the
 * operator, never for a decision. `evidence` holds the vendor's own code, words and request id, masked and shortened.
 */
export interface Failure {
  readonly kind: FailureKind;
  /** The vendor's or our own code: `1254291`, `insufficient_quota`, `ECONNRESET`. */
  readonly code: string;
  readonly message: string;
  /** What a person can do about it, when more is known than the table's words. */
  readonly advice?: string;
  readonly provider?: string;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
  readonly evidence?: JsonObject;
}

/** What to do with a failure of a kind. */
export interface FailureRule {
  /** The same candidate may be tried again (whole chain: submit and poll). */
  readonly sameAgain: boolean;
  /** The next candidate may be tried. */
  readonly nextCandidate: boolean;
  /** Counts towards pausing the provider. */
  readonly countsForBreaker: boolean;
  /** The vendor may have charged, or may still. */
  readonly billMayExist: boolean;
  /** Pauses the provider at once, without waiting for a count. */
  readonly pausesProvider: boolean;
  /** What staff read in 报错: what happened, and what to do. */
  readonly staffText: string;
}

const rule = (flags: string, staffText: string): FailureRule => ({
  sameAgain: flags.includes('again'),
  nextCandidate: flags.includes('next'),
  countsForBreaker: flags.includes('breaker'),
  billMayExist: flags.includes('bill'),
  pausesProvider: flags.includes('pause'),
  staffText,
});

/** The one table. Kinds are few; each has its words for staff. */
export const failureTable = {
  'invalid-input': rule('', '输入不合要求，请按提示修改后再选「提交」。'),
  'content-policy': rule('bill', '内容被厂商审核拦截，请修改图片或文字后再选「提交」。'),
  'output-moderated': rule(
    'again next bill',
    '生成结果被厂商审核拦截（同样的输入再试可能通过），可修改后再选「提交」。',
  ),
  canceled: rule('bill', '已取消。'),
  auth: rule('next pause', '厂商拒绝了密钥，已通知管理员；处理后再选「提交」。'),
  balance: rule('next pause', '厂商余额不足，已通知管理员；充值后再选「提交」。'),
  'key-cap': rule('next pause', '厂商密钥的额度已用完，已通知管理员；调整后再选「提交」。'),
  configuration: rule('next pause', '厂商地址或模型配置有误，已通知管理员；处理后再选「提交」。'),
  'rate-limit': rule('again next', '厂商限流，稍后再选「提交」。'),
  overload: rule('again next breaker', '厂商繁忙，稍后再选「提交」。'),
  unavailable: rule('again next breaker', '厂商服务暂不可用，稍后再选「提交」。'),
  network: rule('again next breaker', '连不上厂商，请稍后再选「提交」。'),
  'input-fetch': rule('again next', '厂商取不到输入图片，请重新上传图片后再选「提交」。'),
  'generation-failed': rule('again next breaker bill', '厂商生成失败，可再选「提交」重试。'),
  'output-invalid': rule('again next bill', '模型返回的内容不合格，可再选「提交」重试。'),
  'no-output': rule('bill', '厂商说已完成却没有给出结果，请联系管理员核对；确认后再选「提交」。'),
  expired: rule('bill', '厂商侧任务或结果已过期，确认后再选「提交」重新生成。'),
  'unknown-outcome': rule('bill', '请求已发出但没有收到答复，厂商可能已受理；管理员核对中。'),
  overdue: rule('bill', '超过等待时限，厂商可能仍在生成；结果到了会自动补上。'),
  transfer: rule('', '已生成，但结果传输失败；再选「提交」只重传，不会重新生成。'),
  storage: rule('', '服务器磁盘空间不足或不可写，已通知管理员。'),
  budget: rule('', '已达预算上限，调整预算或等到明天后自动继续。'),
  timeout: rule('', '超过本步骤的时间上限，可再选「提交」重试。'),
  internal: rule('', '程序内部错误，已通知管理员；可再选「提交」重试。'),
} as const satisfies Record<string, FailureRule>;

export type FailureKind = keyof typeof failureTable;

export function isFailureKind(text: string): text is FailureKind {
  return Object.hasOwn(failureTable, text);
}

export function failureRule(kind: FailureKind): FailureRule {
  return failureTable[kind];
}
