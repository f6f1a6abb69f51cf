import { assertNever } from '../kernel/index.ts';
import type { OperationWord, RowStatus } from './words.ts';

/**
 * What a word does, as data: the operator's contract §3, line for line. `decide` looks a row up here and nowhere else.
 *
 * A stage is **done** when its key cell is not empty and what lies in it was neither rejected nor partial, nor made from
 * inputs that have changed since; a file or text that staff put there counts. The facts about each stage are gathered by
 * `row-facts.ts`; this module only decides.
 */
export interface StageFacts {
  /** The key cell is not empty. */
  readonly present: boolean;
  /** What lies there was refused by 打回 (or is being made anew) and nothing else has been put there since. */
  readonly rejected: boolean;
  /** What lies there is a partial result. */
  readonly partial: boolean;
  /** It was made by the bot from inputs that staff have edited since. */
  readonly inputsChanged: boolean;
}

export interface RowFacts {
  readonly status: RowStatus;
  readonly stages: readonly StageFacts[];
  /** The stage that waits for a person (待确认), or whose call is in doubt (待核对). */
  readonly waitingStage: number;
}

/** How the stage to start is found. */
type Target = 'first-not-done' | 'next-not-done' | 'waiting-or-earlier-missing';

interface Rule {
  readonly word: OperationWord;
  readonly statuses: readonly RowStatus[];
  readonly action:
    | {
        readonly kind: 'start';
        readonly target: Target;
        /** When every stage that could be meant is done. */
        readonly allDone: 'last-anew' | 'finish';
        /** `always`: 打回. `unless-inputs-changed`: 提交 on 完成; edited inputs re-buy only what depends on them. */
        readonly raise: 'never' | 'always' | 'unless-inputs-changed';
        /** A call in doubt is given up (`resolve`), or left to end by itself when its file is already there. */
        readonly freesHeld: boolean;
      }
    | { readonly kind: 'cancel' };
  /** For the documents. */
  readonly words: string;
}

export const decisionTable: readonly Rule[] = [
  {
    word: '提交',
    statuses: ['', '失败', '已取消'],
    action: { kind: 'start', target: 'first-not-done', allDone: 'last-anew', raise: 'never', freesHeld: false },
    words: '从第一个未完成的环节开始；全部完成则重做最后一个环节',
  },
  {
    word: '提交',
    statuses: ['完成'],
    action: {
      kind: 'start',
      target: 'first-not-done',
      allDone: 'last-anew',
      raise: 'unless-inputs-changed',
      freesHeld: false,
    },
    words: '从第一个未完成的环节重新生成；全部完成则重做最后一个环节（新的一代）',
  },
  {
    word: '提交',
    statuses: ['待核对'],
    action: { kind: 'start', target: 'first-not-done', allDone: 'finish', raise: 'never', freesHeld: true },
    words: '确认厂商没有受理：放弃在核对的调用，重新购买；若成品已放进单元格，则从下一个未完成的环节继续，没有则完成',
  },
  {
    word: '通过',
    statuses: ['待确认'],
    action: { kind: 'start', target: 'next-not-done', allDone: 'finish', raise: 'never', freesHeld: false },
    words: '进入下一个环节；之前的环节不会重跑',
  },
  {
    word: '打回',
    statuses: ['待确认'],
    action: {
      kind: 'start',
      target: 'waiting-or-earlier-missing',
      allDone: 'finish',
      raise: 'always',
      freesHeld: false,
    },
    words: '按打回意见重做等待确认的环节；若更早环节的产物被删掉，则重做那个环节',
  },
  {
    word: '取消',
    statuses: ['生成中', '待确认', '待核对'],
    action: { kind: 'cancel' },
    words: '停止；厂商支持时一并取消，已花的钱照记，之后才到的结果保留',
  },
];

export type Decision =
  | {
      readonly kind: 'start';
      readonly stage: number;
      /** The stage's generation goes up: what was made before is not used again. */
      readonly raise: boolean;
      /** What lies in the stage's cell is not the answer any more. */
      readonly reject: boolean;
      readonly feedback: boolean;
      /** What happens to a call in doubt. */
      readonly held: 'none' | 'not-accepted' | 'cancel';
    }
  | { readonly kind: 'finish'; readonly held: 'none' | 'cancel' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'refuse' };

/** Looks the row up in the table. Pure. */
export function decide(word: OperationWord, facts: RowFacts): Decision {
  const rule = decisionTable.find((entry) => entry.word === word && entry.statuses.includes(facts.status));
  if (rule === undefined) return { kind: 'refuse' };
  const { action } = rule;
  if (action.kind === 'cancel') return { kind: 'cancel' };
  const found = findStage(action.target, facts);
  const heldIsThere = action.freesHeld && isDone(facts.stages[facts.waitingStage]);
  if (found === undefined && action.allDone === 'finish') {
    return { kind: 'finish', held: action.freesHeld ? 'cancel' : 'none' };
  }
  const stage = found ?? facts.stages.length - 1;
  const raise =
    action.raise === 'always' ||
    (action.raise === 'unless-inputs-changed' && !(facts.stages[stage]?.inputsChanged ?? false));
  return {
    kind: 'start',
    stage,
    raise,
    reject: facts.stages[stage]?.present === true,
    feedback: action.target === 'waiting-or-earlier-missing',
    held: action.freesHeld ? (heldIsThere ? 'cancel' : 'not-accepted') : 'none',
  };
}

export function isDone(stage: StageFacts | undefined): boolean {
  return stage !== undefined && stage.present && !stage.rejected && !stage.partial && !stage.inputsChanged;
}

function findStage(target: Target, facts: RowFacts): number | undefined {
  const { stages, waitingStage } = facts;
  switch (target) {
    case 'first-not-done':
      return indexFrom(stages, 0, (stage) => !isDone(stage));
    case 'next-not-done':
      return indexFrom(stages, waitingStage + 1, (stage) => !isDone(stage));
    case 'waiting-or-earlier-missing':
      return indexFrom(stages.slice(0, waitingStage), 0, (stage) => !stage.present) ?? waitingStage;
    default:
      return assertNever(target);
  }
}

function indexFrom(
  stages: readonly StageFacts[],
  from: number,
  matches: (stage: StageFacts) => boolean,
): number | undefined {
  const index = stages.findIndex((stage, position) => position >= from && matches(stage));
  return index === -1 ? undefined : index;
}

/** The table for the documents, in Markdown. */
export function printDecisionTable(): string {
  const lines = decisionTable.map(
    (rule) => `| ${rule.word} | ${rule.statuses.map((status) => status || '（空）').join('、')} | ${rule.words} |`,
  );
  return [
    '| 操作 | 允许的状态 | 做什么 |',
    '|---|---|---|',
    ...lines,
    '| 其他 | 任何 | 清空操作，状态不变，提示提交人、群或「提示」列 |',
  ].join('\n');
}
