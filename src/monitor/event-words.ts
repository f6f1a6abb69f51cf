import type { EventRecord } from '../engine/ports/index.ts';
import { failureRule, isFailureKind } from '../contract/index.ts';
import { isJsonObject } from '../kernel/index.ts';
import type { AlertInput } from './alert.ts';

/** What an event asks of the alerter: an alert, or the end of a condition. */
export type EventAlert =
  | { readonly kind: 'alert'; readonly input: AlertInput }
  | { readonly kind: 'recover'; readonly key: string; readonly title: string; readonly text: string };

/** Event types that may become alerts; the follower reads no others. */
export const alertingEvents = [
  'candidate-switched',
  'candidates-exhausted',
  'node-degraded',
  'attempt-unknown',
  'attempt-overdue',
  'provider-paused',
  'provider-resumed',
  'budget-warning',
  'budget-reached',
  'status-unrecognised',
  'node-held',
  'execution-ended',
  'notice',
] as const satisfies readonly EventRecord['type'][];

/** Failures that staff caused or asked for: told in the row, no business of the operator. */
const staffKinds: readonly string[] = ['invalid-input', 'content-policy', 'canceled', 'budget', 'output-moderated'];

/** Turns one event into an alert in words that say what to do; undefined where the operator need not know. */
export function eventAlert(event: EventRecord): EventAlert | undefined {
  const facts = readFacts(event);
  switch (event.type) {
    case 'candidate-switched':
      return alert('warning', `已切换厂商：${facts.from} → ${facts.to}`, [
        `${facts.where}原因：${facts.why}。`,
        `任务会继续，结果可能来自备用厂商；持续出现请检查 ${facts.from} 的余额、密钥和服务状态。`,
      ]);
    case 'candidates-exhausted':
      // A refused picture is no fault of the vendors: the row says what to change.
      if (staffKinds.includes(facts.failureKind)) return undefined;
      return alert('error', `全部厂商都失败了：${facts.node}`, [
        `${facts.where}最后原因：${facts.why}。`,
        '请检查各厂商余额与服务状态（npx gridloom doctor），恢复后让员工在失败的行再选「提交」。',
      ]);
    case 'node-degraded':
      return alert('warning', `已降级：${facts.node}`, [
        `${facts.where}原因：${facts.why}。`,
        '任务照常出结果但质量可能下降；请检查上游通道（模型余额、密钥、限流）。',
      ]);
    case 'attempt-unknown':
    case 'attempt-overdue':
      // What the vendor can be asked about settles itself as a rule; what is held has an alert of its own (`node-held`).
      return facts.handling === 'retry' ? retriedInDoubt(facts) : undefined;
    case 'node-held':
      return alert('error', `有付费调用待核对：${facts.provider}`, [
        `${facts.where}${facts.call}原因：${facts.why}。`,
        ...heldAdvice(facts),
      ]);
    case 'provider-paused':
      return {
        kind: 'alert',
        input: {
          title: `厂商已暂停：${facts.provider}`,
          text: `原因：${facts.why}。新任务改走下一家候选。${facts.advice}`,
          severity: 'error',
          key: `provider:${facts.provider}`,
        },
      };
    case 'provider-resumed':
      return {
        kind: 'recover',
        key: `provider:${facts.provider}`,
        title: `厂商已恢复：${facts.provider}`,
        text: '新任务重新使用该厂商。',
      };
    case 'budget-warning':
      return alert('warning', `预算已用八成：${facts.budget}`, [
        `${facts.spent}到上限后不再发起新的付费调用；需要的话调整 limits（config/gridloom.yaml）。`,
      ]);
    case 'budget-reached':
      return alert('error', `预算已用完：${facts.budget}`, [
        `${facts.spent}新的付费调用已停，在途的照常收取。`,
        // A row's budget knows no day: it never goes on by itself.
        facts.budget === rowBudget
          ? `${facts.where}要继续请调高 limits.row_cost（config/gridloom.yaml）后重启，不再要就在该行选「取消」。`
          : '调整 limits（config/gridloom.yaml）或等到明天自动继续。',
      ]);
    case 'status-unrecognised':
      return alert('warning', `厂商返回了未知状态：${facts.provider}`, [
        `状态词「${facts.statusWord}」。按未完成继续等到时限；若厂商改了接口，请升级程序或联系维护者。`,
      ]);
    case 'execution-ended':
      return failedExecution(facts);
    case 'notice':
      return notice(event, facts);
    default:
      return undefined;
  }
}

function alert(severity: AlertInput['severity'], title: string, lines: readonly string[]): EventAlert {
  return { kind: 'alert', input: { title, text: lines.filter((line) => line !== '').join('\n'), severity } };
}

/** What the operator does about a call that nobody buys again by itself: an overdue one has its task, a lost one may have. */
function heldAdvice(facts: Facts): string[] {
  const call = facts.attempt === '' ? '调用号' : facts.attempt;
  return facts.failureKind === 'overdue'
    ? [
        '会继续向厂商查询，结果到了自动补上，不必处理。',
        `厂商后台显示任务已作废时执行 npx gridloom resolve ${call} --not-accepted；不想再等可让员工选「取消」，或选「提交」再买一次。`,
      ]
    : [
        '系统不会自动重买。',
        `请到厂商后台核对，再执行 npx gridloom resolve ${call} --accepted 任务号 或 --not-accepted（同时有几笔时：npx gridloom executions --status held）。`,
      ];
}

/** The written policy buys again; the operator hears that the bill may come twice. */
function retriedInDoubt(facts: Facts): EventAlert {
  return alert('warning', `结果不明，已按策略重买：${facts.provider}`, [
    `${facts.where}${facts.call}`,
    '原调用可能也会计费，账本已按预估记入；不想自动重买时改 unknown_outcome / overdue 为 hold。',
  ]);
}

/**
 * A failed run: told in the row already; the operator hears of kinds that are ours or the vendor's, folded by kind. A call in
 * doubt has had its alert when it was held: its execution fails by the word of a person who has settled it.
 */
function failedExecution(facts: Facts): EventAlert | undefined {
  if (facts.status !== 'failed' || staffKinds.includes(facts.failureKind)) return undefined;
  if (facts.failureKind === 'unknown-outcome') return undefined;
  return alert('warning', `任务失败：${facts.why}`, [
    facts.where.replace(/，$/, '。'),
    facts.failureKind === '' || !isFailureKind(facts.failureKind)
      ? '原因见该行的「报错」列和 npx gridloom show。'
      : failureRule(facts.failureKind).staffText,
  ]);
}

/** Another room tells the operator. `data`: name, and where it knows them title, text, severity, key, recovered. */
function notice(event: EventRecord, facts: Facts): EventAlert | undefined {
  const { data } = event;
  const name = text(data['name']);
  if (data['silent'] === true || name === '') return undefined;
  const title = text(data['title']) || (noticeTitles[name] ?? `提示：${name}`);
  const body = text(data['text']) || text(data['message']) || facts.where || name;
  const key = text(data['key']);
  if (data['recovered'] === true) return { kind: 'recover', key: key || name, title, text: body };
  const given = text(data['severity']);
  const severity = given === 'fatal' || given === 'error' || given === 'info' ? given : 'warning';
  return { kind: 'alert', input: { title, text: body, severity, ...(key === '' ? {} : { key }) } };
}

const noticeTitles: Readonly<Record<string, string>> = {
  'foreign-installation': '同一张表被另一套程序占用，已停止接单',
  'loop-failed': '主循环出错',
  'feishu-quota': '飞书调用额度将用完',
  'columns-missing': '表格缺少必需的列',
};

interface Facts {
  readonly where: string;
  readonly node: string;
  readonly provider: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
  readonly advice: string;
  readonly attempt: string;
  readonly call: string;
  readonly budget: string;
  readonly spent: string;
  readonly statusWord: string;
  readonly status: string;
  readonly failureKind: string;
  /** What is done about a call in doubt: `find`, `retry`, `hold`, or `end` where its execution is over. */
  readonly handling: string;
}

/** Lenient: an event of another version still gives an alert, only with fewer words. */
function readFacts(event: EventRecord): Facts {
  const { data } = event;
  const failure = isJsonObject(data['failure']) ? data['failure'] : {};
  const failureKind = text(failure['kind']) || text(data['failureKind']) || text(data['kind']);
  const path = text(data['node']) || text(data['nodePath']) || text(data['path']);
  // The title folds better than the path (`shots[3]`), and reads better.
  const node = text(data['title']) || path.replace(/\[\d+\]/g, '') || '未知节点';
  const provider = text(data['provider']) || text(data['account']) || text(failure['provider']) || '未知厂商';
  const model = text(data['model']);
  const attempt = text(data['attemptId']) || text(data['attempt']);
  const agent = text(data['agent']);
  const id = event.executionId;
  const where = [
    agent === '' ? '' : `智能体 ${agent}，`,
    path === '' ? '' : `节点 ${path}，`,
    id === undefined ? '' : `执行 ${id}，`,
  ].join('');
  const spent = text(data['spent']) || text(data['spentCny']);
  const limit = text(data['limit']) || text(data['limitCny']);
  const atRisk = text(data['atRisk']) || text(data['atRiskCny']);
  return {
    where,
    node,
    provider,
    from: candidate(data['from']) || provider,
    to: candidate(data['to']) || '下一家候选',
    why: shortReason(failureKind, text(failure['message']) || text(data['reason'])),
    advice: text(failure['advice']) || pauseAdvice(failureKind),
    attempt,
    call: [
      `厂商 ${provider}`,
      model === '' ? '' : `模型 ${model}`,
      attempt === '' ? '' : `调用 ${attempt}`,
      atRisk === '' ? '' : `涉及金额 ${atRisk} 元`,
    ]
      .filter((part) => part !== '')
      .join('，')
      .concat('。'),
    budget: budgetName(text(data['scope']), text(data['budget']) || text(data['name']) || agent),
    spent: spent === '' || limit === '' ? '' : `已用 ${spent} / ${limit} 元。`,
    statusWord: text(data['statusWord']) || text(data['word']),
    status: text(data['status']),
    failureKind,
    handling: text(data['handling']) || text(data['policy']),
  };
}

const rowBudget = '单行';

/** Which budget, without naming a person: alerts are also shown on the page. */
function budgetName(scope: string, name: string): string {
  switch (scope) {
    case 'submitter':
      return '某位提交人（见 npx gridloom ledger --by submitter）';
    case 'row':
      return rowBudget;
    default:
      return name === '' ? '未命名' : name;
  }
}

/** A candidate in an event: a string, or `{provider, model}`. */
function candidate(value: unknown): string {
  if (!isJsonObject(value)) return text(value);
  return [text(value['provider']), text(value['model'])].filter((part) => part !== '').join('/');
}

/** A short reason that folds: the kind's own words up to the first stop, never the vendor's text (it may carry ids). */
function shortReason(kind: string, message: string): string {
  if (kind === 'transfer') return '结果传输失败';
  if (isFailureKind(kind)) return failureRule(kind).staffText.split(/[，。（]/)[0] ?? kind;
  return message === '' ? '未说明' : message.slice(0, 60);
}

function pauseAdvice(kind: string): string {
  switch (kind) {
    case 'balance':
      return '请充值；充值后会自动恢复。';
    case 'auth':
      return '请检查 .env 中的密钥，改好后重启。';
    case 'key-cap':
      return '请在厂商后台提高该密钥的额度。';
    case 'configuration':
      return '请检查 config/providers.yaml 中的地址与模型名。';
    default:
      return '稍后会自动再试。';
  }
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}
