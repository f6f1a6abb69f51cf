import { capability, type Settings } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import { createPricer } from '../policy/pricing.ts';
import { drawMermaid, innerGraph } from './mermaid.ts';
import { isPathText, parsePath, readPath } from './path.ts';
import type { CompiledPlan, PlanGraph, PlanNode, PlanSkill } from './plan.ts';

/** What a workflow would do, without doing it: for `run --dry-run`. */
export interface PlanDescription {
  readonly workflow: string;
  readonly planHash: string;
  /** A flowchart for Mermaid. */
  readonly mermaid: string;
  readonly steps: readonly StepDescription[];
  /** The most calls that can be paid for, over all tries, candidates, checks and items. */
  readonly mostPaidCalls: number;
  /** If everything goes well at the first try: each step once, by the first candidate's price. */
  readonly estimatedCnyMicros: number;
  /** If every call that can be paid for is, at the dearest candidate's price. */
  readonly mostCnyMicros: number;
  /** `provider/model` without a price: they count 0 here. */
  readonly unpriced: readonly string[];
}

export interface StepDescription {
  readonly path: string;
  readonly kind: string;
  readonly title: string;
  readonly skill?: string;
  readonly candidates?: readonly string[];
  /** How often it may run: the items of the maps around it. */
  readonly times: number;
  readonly mostPaidCalls: number;
  readonly estimatedCnyMicros: number;
}

export function describePlan(compiled: CompiledPlan, settings: Settings, input: JsonObject = {}): PlanDescription {
  const { plan } = compiled;
  const unpriced = new Set<string>();
  const steps: StepDescription[] = [];
  let mostCnyMicros = 0;
  const pricer = createPricer(settings.money);
  const priceOf = (skill: PlanSkill, candidate: number, params: JsonObject): number => {
    const chosen = skill.candidates[candidate];
    if (chosen === undefined || !capability(skill.definition.capability).paid) return 0;
    const priced = pricer.estimate(chosen.model, params);
    if (priced.source !== 'price_table') unpriced.add(`${chosen.provider}/${chosen.model.id}`);
    return priced.cnyMicros;
  };
  const visitSkill = (path: string, node: PlanNode, name: string, times: number, isFallback: boolean): void => {
    const skill = plan.skills[name];
    if (skill === undefined) return;
    const params: JsonObject = {
      ...skill.definition.defaults,
      ...(node.definition.kind === 'skill' ? node.definition.params : {}),
    };
    const isPaid = capability(skill.definition.capability).paid;
    const perRun = isPaid ? (skill.definition.max_paid_calls ?? settings.limits.max_paid_calls) : 0;
    const prices = skill.candidates.map((_candidate, at) => priceOf(skill, at, params));
    mostCnyMicros += Math.max(0, ...prices) * perRun * times;
    steps.push({
      path,
      kind: node.definition.kind,
      title: node.definition.title ?? node.id,
      skill: name,
      candidates: skill.candidates.map((each) => `${each.provider}/${each.model.id}`),
      times,
      mostPaidCalls: perRun * times,
      estimatedCnyMicros: isFallback ? 0 : (prices[0] ?? 0) * times,
    });
  };
  const visit = (graph: PlanGraph, prefix: string, times: number): void => {
    for (const node of graph.nodes) {
      const path = prefix === '' ? node.id : `${prefix}/${node.id}`;
      const { definition } = node;
      const isFallback = node.incoming.some((edge) => edge.kind === 'fallback');
      if (definition.kind === 'skill') visitSkill(path, node, definition.skill, times, isFallback);
      else if (definition.kind === 'map' && 'skill' in definition.body)
        visitSkill(
          `${path}[*]`,
          node,
          definition.body.skill,
          times * itemsOf(definition.over, definition.max_items, input, prefix),
          isFallback,
        );
      else
        steps.push({
          path,
          kind: definition.kind,
          title: definition.title ?? node.id,
          times,
          mostPaidCalls: 0,
          estimatedCnyMicros: 0,
        });
      const inner = innerGraph(plan, node);
      if (inner === undefined) continue;
      const isMap = definition.kind === 'map';
      visit(
        inner,
        isMap ? `${path}[*]` : path,
        isMap ? times * itemsOf(definition.over, definition.max_items, input, prefix) : times,
      );
    }
  };
  const root = plan.graphs[plan.workflow];
  if (root !== undefined) visit(root, '', 1);
  return {
    workflow: plan.workflow,
    planHash: compiled.hash,
    mermaid: drawMermaid(plan),
    steps,
    mostPaidCalls: steps.reduce((sum, step) => sum + step.mostPaidCalls, 0),
    estimatedCnyMicros: steps.reduce((sum, step) => sum + step.estimatedCnyMicros, 0),
    mostCnyMicros,
    unpriced: [...unpriced],
  };
}

/** The length of the list where the input tells it, else the most that is allowed. */
function itemsOf(over: string, most: number, input: JsonObject, prefix: string): number {
  const path = prefix === '' && isPathText(over) ? parsePath(over) : undefined;
  if (path?.ok !== true || path.value.root !== 'input') return most;
  const list = readPath(path.value, { input });
  return Array.isArray(list) ? Math.min(most, list.length) : most;
}
