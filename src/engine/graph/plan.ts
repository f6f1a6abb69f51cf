import { createHash } from 'node:crypto';
import type { ModelSettings, NodeDefinition, PromptDefinition, SkillDefinition } from '../../contract/index.ts';
import { canonicalJson, type JsonObject } from '../../kernel/index.ts';

/**
 * What one node waits for. `data`: a value of `from` is used; `branch`: `from` is a condition and this branch must be
 * taken; `order`: nothing but "after"; `fallback`: runs only when `from` has failed for good.
 */
export interface PlanEdge {
  readonly from: string;
  readonly kind: 'data' | 'branch' | 'order' | 'fallback';
  readonly branch?: string;
}

export interface PlanNode {
  readonly id: string;
  readonly definition: NodeDefinition;
  readonly incoming: readonly PlanEdge[];
}

/** One workflow's graph; nodes in topological order. */
export interface PlanGraph {
  readonly name: string;
  readonly version?: number;
  readonly title?: string;
  readonly maxConcurrency?: number;
  readonly deadlineMs?: number;
  readonly keepPartial: boolean;
  readonly input: JsonObject;
  readonly nodes: readonly PlanNode[];
  readonly output: JsonObject;
}

/** A skill as it stood when the plan was made, with its prompt and the models of its candidates. */
export interface PlanSkill {
  readonly definition: SkillDefinition;
  readonly prompt?: PromptDefinition;
  readonly candidates: readonly PlanCandidate[];
}

export interface PlanCandidate {
  readonly provider: string;
  readonly model: ModelSettings;
}

/** All that an execution uses: stored once under its hash, never changed by later edits. */
export interface Plan {
  readonly format: 1;
  readonly workflow: string;
  readonly graphs: Readonly<Record<string, PlanGraph>>;
  readonly skills: Readonly<Record<string, PlanSkill>>;
}

export interface CompiledPlan {
  readonly hash: string;
  readonly plan: Plan;
}

/** SHA-256 of the canonical JSON, hex. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
