import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Decision,
  decide,
  decisionTable,
  isDone,
  operationWords,
  printDecisionTable,
  type RowFacts,
  statusWords,
} from '../../src/bitable/index.ts';

type Facts = RowFacts['stages'][number];
const empty: Facts = { present: false, rejected: false, partial: false, inputsChanged: false };
const done: Facts = { ...empty, present: true };
/** Every state a stage's cell can be in. */
const kinds: readonly Facts[] = [
  empty,
  done,
  { ...done, rejected: true },
  { ...done, partial: true },
  { ...done, inputsChanged: true },
];
const allowed: Readonly<Record<string, readonly string[]>> = {
  提交: ['', '失败', '完成', '已取消', '待核对'],
  通过: ['待确认'],
  打回: ['待确认'],
  取消: ['生成中', '待确认', '待核对'],
};

function* everyRow(): Generator<RowFacts> {
  for (const status of statusWords) {
    for (const first of kinds) {
      for (const second of kinds) {
        for (const third of kinds) {
          for (const waitingStage of [0, 1, 2]) yield { status, stages: [first, second, third], waitingStage };
        }
      }
    }
  }
}

describe('the decision table', () => {
  it('answers every combination of word, status and artifacts as the contract says', () => {
    let combinations = 0;
    for (const word of operationWords) {
      for (const facts of everyRow()) {
        combinations += 1;
        const decision = decide(word, facts);
        expect(decision.kind === 'refuse').toBe(allowed[word]?.includes(facts.status) !== true);
        if (decision.kind === 'start') checkStart(word, facts, decision);
        if (decision.kind === 'finish') checkFinish(word, facts);
        if (decision.kind === 'cancel') expect(word).toBe('取消');
      }
    }
    expect(combinations).toBe(4 * 7 * 125 * 3);
  });

  it('has one rule for each allowed pair', () => {
    const pairs = decisionTable.flatMap((rule) => rule.statuses.map((status) => `${rule.word} ${status}`));
    expect(pairs.toSorted()).toEqual(
      Object.entries(allowed)
        .flatMap(([word, statuses]) => statuses.map((status) => `${word} ${status}`))
        .toSorted(),
    );
  });

  it('raises the generation for 打回 and for 提交 on 完成 alone, and not where edited inputs are the reason', () => {
    const changed = { ...done, inputsChanged: true };
    const raise = (word: '提交' | '打回', status: '完成' | '失败' | '待确认', first: Facts): boolean => {
      const decision = decide(word, { status, stages: [first, done, done], waitingStage: 2 });
      return decision.kind === 'start' && decision.raise;
    };
    expect(raise('打回', '待确认', done)).toBe(true);
    expect(raise('提交', '完成', done)).toBe(true);
    expect(raise('提交', '完成', changed)).toBe(false);
    expect(raise('提交', '失败', done)).toBe(false);
  });

  it('restarts the last stage anew when all are done, and finishes a doubtful row whose file is there', () => {
    const all = { stages: [done, done, done], waitingStage: 2 };
    expect(decide('提交', { ...all, status: '完成' })).toMatchObject({ kind: 'start', stage: 2 });
    expect(decide('提交', { ...all, status: '待核对' })).toEqual({ kind: 'finish', held: 'cancel' });
    expect(decide('提交', { stages: [done, empty, empty], waitingStage: 1, status: '待核对' })).toMatchObject({
      stage: 1,
      held: 'not-accepted',
    });
  });

  it('sends 打回 to the earlier stage whose artifact was removed', () => {
    const facts = { status: '待确认', stages: [empty, done, empty], waitingStage: 1 } as const;
    expect(decide('打回', facts)).toMatchObject({ kind: 'start', stage: 0, raise: true });
  });

  it('prints itself for the documents', () => {
    const text = printDecisionTable();
    for (const word of operationWords) expect(text).toContain(`| ${word} |`);
  });
});

function checkStart(word: string, facts: RowFacts, decision: Extract<Decision, { kind: 'start' }>): void {
  const firstNotDone = facts.stages.findIndex((stage) => !isDone(stage));
  if (word === '提交') expect(decision.stage).toBe(firstNotDone === -1 ? 2 : firstNotDone);
  if (word === '通过') {
    expect(decision.stage).toBeGreaterThan(facts.waitingStage);
    expect(isDone(facts.stages[decision.stage])).toBe(false);
  }
  if (word === '打回') {
    const missing = facts.stages.slice(0, facts.waitingStage).findIndex((stage) => !stage.present);
    expect(decision.stage).toBe(missing === -1 ? facts.waitingStage : missing);
  }
  expect(decision.held === 'none').toBe(facts.status !== '待核对');
}

function checkFinish(word: string, facts: RowFacts): void {
  const rest = word === '通过' ? facts.stages.slice(facts.waitingStage + 1) : facts.stages;
  expect(rest.every((stage) => isDone(stage))).toBe(true);
}

describe('the page about the table side', () => {
  it('shows the decision table as it is', () => {
    expect(readFileSync('docs/table-side.md', 'utf8')).toContain(printDecisionTable());
  });
});
