import { capability, type Settings } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import { createPricer, type Pricer } from '../policy/pricing.ts';
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
  const survey: Survey = {
    compiled,
    settings,
    input,
    pricer: createPricer(settings.money),
    steps: [],
    unpriced: new Set(),
    mostCnyMicros: 0,
  };
  const root = plan.graphs[plan.workflow];
  if (root !== undefined) visitGraph(survey, root, '', 1);
  const { steps } = survey;
  return {
    workflow: plan.workflow,
    planHash: compiled.hash,
    mermaid: drawMermaid(plan),
    steps,
    mostPaidCalls: steps.reduce((sum, step) => sum + step.mostPaidCalls, 0),
    estimatedCnyMicros: steps.reduce((sum, step) => sum + step.estimatedCnyMicros, 0),
    mostCnyMicros: survey.mostCnyMicros,
    unpriced: [...survey.unpriced],
  };
}

interface Survey {
  readonly compiled: CompiledPlan;
  readonly settings: Settings;
  readonly input: JsonObject;
  readonly pricer: Pricer;
  readonly steps: StepDescription[];
  readonly unpriced: Set<string>;
  mostCnyMicros: number;
}

function visitGraph(survey: Survey, graph: PlanGraph, prefix: string, times: number): void {
  for (const node of graph.nodes) {
    const path = prefix === '' ? node.id : `${prefix}/${node.id}`;
    const { definition } = node;
    const isMap = definition.kind === 'map';
    const innerTimes = isMap ? times * itemsOf(definition.over, definition.max_items, survey.input, prefix) : times;
    if (definition.kind === 'skill') visitSkill(survey, node, { path, skill: definition.skill, times });
    else if (isMap && 'skill' in definition.body) {
      visitSkill(survey, node, { path: `${path}[*]`, skill: definition.body.skill, times: innerTimes });
    } else {
      const title = definition.title ?? node.id;
      survey.steps.push({ path, kind: definition.kind, title, times, mostPaidCalls: 0, estimatedCnyMicros: 0 });
    }
    const inner = innerGraph(survey.compiled.plan, node);
    if (inner !== undefined) visitGraph(survey, inner, isMap ? `${path}[*]` : path, innerTimes);
  }
}

function visitSkill(
  survey: Survey,
  node: PlanNode,
  place: { readonly path: string; readonly skill: string; readonly times: number },
): void {
  const skill = survey.compiled.plan.skills[place.skill];
  if (skill === undefined) return;
  const { definition } = node;
  const params: JsonObject = {
    ...skill.definition.defaults,
    ...(definition.kind === 'skill' ? definition.params : {}),
  };
  const isPaid = capability(skill.definition.capability).paid;
  const perRun = isPaid ? (skill.definition.max_paid_calls ?? survey.settings.limits.max_paid_calls) : 0;
  const prices = skill.candidates.map((_candidate, at) => priceOf(survey, skill, at, params));
  // What only steps in for a failed node costs nothing when all goes well.
  const isFallback = node.incoming.some((edge) => edge.kind === 'fallback');
  survey.mostCnyMicros += Math.max(0, ...prices) * perRun * place.times;
  survey.steps.push({
    path: place.path,
    kind: definition.kind,
    title: definition.title ?? node.id,
    skill: place.skill,
    candidates: skill.candidates.map((each) => `${each.provider}/${each.model.id}`),
    times: place.times,
    mostPaidCalls: perRun * place.times,
    estimatedCnyMicros: isFallback ? 0 : (prices[0] ?? 0) * place.times,
  });
}

function priceOf(survey: Survey, skill: PlanSkill, candidate: number, params: JsonObject): number {
  const chosen = skill.candidates[candidate];
  if (chosen === undefined || !capability(skill.definition.capability).paid) return 0;
  const priced = survey.pricer.estimate(chosen.model, params);
  if (priced.source !== 'price_table') survey.unpriced.add(`${chosen.provider}/${chosen.model.id}`);
  return priced.cnyMicros;
}

/** The length of the list where the input tells it, else the most that is allowed. */
function itemsOf(over: string, most: number, input: JsonObject, prefix: string): number {
  const path = prefix === '' && isPathText(over) ? parsePath(over) : undefined;
  if (path?.ok !== true || path.value.root !== 'input') return most;
  const list = readPath(path.value, { input });
  return Array.isArray(list) ? Math.min(most, list.length) : most;
}
