import type { PlanDescription } from '../../engine/index.ts';
import { formatMicros } from '../../kernel/index.ts';
import { textTable } from './text-table.ts';

/** A plan before it runs: the picture, each step with who would do it, and what it can cost. */
export function renderPlan(plan: PlanDescription): string[] {
  const steps = plan.steps.map((step) => [
    step.path,
    step.title,
    step.skill ?? step.kind,
    (step.candidates ?? []).join(' → '),
    String(step.times),
    String(step.mostPaidCalls),
    formatMicros(step.estimatedCnyMicros, 4),
  ]);
  return [
    '```mermaid',
    ...plan.mermaid.trimEnd().split('\n'),
    '```',
    '',
    ...textTable(['STEP', 'TITLE', 'SKILL', 'CANDIDATES', 'TIMES', 'MOST CALLS', 'CNY'], steps),
    '',
    `estimated cost, if every first try succeeds: ${formatMicros(plan.estimatedCnyMicros, 4)} CNY`,
    `at most ${plan.mostPaidCalls} paid calls, ${formatMicros(plan.mostCnyMicros, 4)} CNY; nobody was called`,
    ...(plan.unpriced.length === 0 ? [] : [`without a price, counted as 0: ${plan.unpriced.join(', ')}`]),
  ];
}
