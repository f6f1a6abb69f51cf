import { describe, expect, it } from 'vitest';
import { type FailureKind, failureTable } from '../../src/contract/index.ts';

const rows = Object.entries(failureTable);

describe('the failure table', () => {
  it('never tries invalid input, content policy or cancellation again, nor hands them on', () => {
    for (const kind of ['invalid-input', 'content-policy', 'canceled'] as const satisfies readonly FailureKind[]) {
      expect([failureTable[kind].sameAgain, failureTable[kind].nextCandidate]).toEqual([false, false]);
    }
  });

  it('never buys again by itself where the first purchase has no verdict', () => {
    for (const kind of [
      'unknown-outcome',
      'overdue',
      'no-output',
      'expired',
    ] as const satisfies readonly FailureKind[]) {
      expect([failureTable[kind].sameAgain, failureTable[kind].nextCandidate, failureTable[kind].billMayExist]).toEqual(
        [false, false, true],
      );
    }
  });

  it('has words for staff for every kind, in Chinese', () => {
    for (const [kind, rule] of rows) expect(rule.staffText, kind).toMatch(/[\u4e00-\u9fff]{2,}/);
  });

  it('pauses a provider at once exactly for what a person must mend', () => {
    expect(rows.filter(([, rule]) => rule.pausesProvider).map(([kind]) => kind)).toEqual([
      'auth',
      'balance',
      'key-cap',
      'configuration',
    ]);
  });
});
