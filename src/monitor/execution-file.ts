import { z } from 'zod';
import { failureRule, type Failure } from '../contract/index.ts';
import type {
  AttemptRecord,
  ChargeRecord,
  EventRecord,
  ExecutionRecord,
  NodeRecord,
  Store,
} from '../engine/ports/index.ts';
import type { ExecutionId, JsonObject } from '../kernel/index.ts';

const mostEvents = 400;
const mostNodes = 500;

/** The members of a stored plan that draw the graph; the rest of it is the engine's own business. */
const planSchema = z.object({
  workflow: z.string(),
  graphs: z.record(
    z.string(),
    z.object({
      title: z.string().optional(),
      nodes: z.array(
        z.object({
          id: z.string(),
          definition: z.object({ kind: z.string(), title: z.string().optional(), skill: z.string().optional() }),
          incoming: z.array(z.object({ from: z.string(), kind: z.string(), branch: z.string().optional() })),
        }),
      ),
    }),
  ),
});

/**
 * One execution for the page: its graph with the state of each node, its attempts with vendor, times and cost, its failures
 * in words, its events. No input, no output, no prompt, no address, no name of staff. Undefined when it does not exist.
 */
export async function executionFile(store: Store, id: ExecutionId, nowMs: number): Promise<JsonObject | undefined> {
  const execution = await store.execution(id);
  if (execution === undefined) return undefined;
  const [nodes, attempts, charges, events, plan] = await Promise.all([
    store.nodes(id),
    store.attempts(id),
    store.charges({ executionId: id }),
    store.events(0, mostEvents, { executionId: id }),
    store.blob(execution.planHash),
  ]);
  return {
    updated_at: new Date(nowMs).toISOString(),
    ...head(execution),
    cost_cny_micros: sumCny(charges, 'settled'),
    open_cny_micros: sumCny(charges, 'reserved'),
    graph: graphOf(plan),
    nodes: nodes.slice(0, mostNodes).map(nodeView),
    attempts: attempts.map((attempt) =>
      attemptView(
        attempt,
        charges.filter((charge) => charge.attemptId === attempt.id),
      ),
    ),
    events: events.map(eventView),
  };
}

function head(execution: ExecutionRecord): JsonObject {
  return {
    id: execution.id,
    agent: execution.labels.agent ?? '',
    stage: execution.labels.stage ?? '',
    workflow: execution.workflow,
    status: execution.status,
    generation: execution.generation,
    created_at: execution.createdAt,
    started_at: execution.startedAt ?? null,
    ended_at: execution.endedAt ?? null,
    active_ms: execution.activeMs,
    parent_id: execution.parentId ?? null,
    failure: failureView(execution.failure),
    marks: execution.marks.map((mark) => ({ kind: mark.kind, node: mark.node })),
  };
}

function graphOf(plan: JsonObject | undefined): JsonObject | null {
  const parsed = planSchema.safeParse(plan);
  const graph = parsed.success ? parsed.data.graphs[parsed.data.workflow] : undefined;
  if (graph === undefined) return null;
  return {
    title: graph.title ?? '',
    nodes: graph.nodes.map((node) => ({
      id: node.id,
      kind: node.definition.kind,
      title: node.definition.title ?? node.id,
      incoming: node.incoming.map((edge) => ({ from: edge.from, kind: edge.kind, branch: edge.branch ?? '' })),
    })),
  };
}

function nodeView(node: NodeRecord): JsonObject {
  return {
    path: node.path,
    status: node.status,
    branch: node.branch ?? '',
    degraded: node.degraded,
    started_at: node.startedAt ?? null,
    ended_at: node.endedAt ?? null,
    failure: failureView(node.failure),
  };
}

function attemptView(attempt: AttemptRecord, charges: readonly ChargeRecord[]): JsonObject {
  const [charge] = charges;
  return {
    id: attempt.id,
    node: attempt.nodePath,
    ordinal: attempt.ordinal,
    provider: attempt.provider,
    model: attempt.model,
    capability: attempt.capability,
    state: attempt.state,
    intended_at: attempt.intendedAt,
    accepted_at: attempt.acceptedAt ?? null,
    settled_at: attempt.settledAt ?? null,
    deadline_ms: attempt.deadlineMs,
    polls: attempt.polls,
    refused_output: attempt.refusedOutput !== undefined,
    failure: failureView(attempt.failure),
    cost:
      charge === undefined
        ? null
        : {
            state: charge.state,
            source: charge.source,
            currency: charge.amount.currency,
            micros: charge.amount.micros,
            cny_micros: charge.cnyMicros,
          },
  };
}

/** Our words for the kind; the vendor's own may quote the prompt. */
function failureView(failure: Failure | undefined): JsonObject | null {
  if (failure === undefined) return null;
  return {
    kind: failure.kind,
    code: failure.code.slice(0, 60),
    text: failureRule(failure.kind).staffText,
    http_status: failure.httpStatus ?? null,
  };
}

function eventView(event: EventRecord): JsonObject {
  const { data } = event;
  const pick = (...names: string[]): string => {
    for (const name of names) {
      const value = data[name];
      if (typeof value === 'string') return value.slice(0, 120);
    }
    return '';
  };
  return {
    seq: event.seq,
    at: event.at,
    type: event.type,
    node: pick('node', 'nodePath', 'path'),
    provider: pick('provider'),
    model: pick('model'),
  };
}

function sumCny(charges: readonly ChargeRecord[], state: ChargeRecord['state']): number {
  return charges.filter((charge) => charge.state === state).reduce((sum, charge) => sum + charge.cnyMicros, 0);
}
