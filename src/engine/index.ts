export type { EngineDeps, Peers, SharedRooms, SideFile } from './deps.ts';
export { type CompiledDefinitions, compile } from './graph/compile.ts';
export type { CompiledPlan, Plan, PlanCandidate, PlanEdge, PlanGraph, PlanNode, PlanSkill } from './graph/plan.ts';
export { createEngine, type SharedEngine } from './worker/engine.ts';
export { describePlan, type PlanDescription, type StepDescription } from './graph/describe.ts';
export { defineWorkflow, type Ref, type TypedWorkflow, type WorkflowBuilder } from './typed/define-workflow.ts';
