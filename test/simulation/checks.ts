import type { AttemptRecord, ChargeRecord, ExecutionRecord, Store } from '../../src/engine/ports/index.ts';
import { checkArtifacts } from './check-artifacts.ts';
import { checkAttempts } from './check-attempts.ts';
import { checkLedger } from './check-ledger.ts';
import { checkCommands, checkRest, checkWrites } from './check-rows.ts';
import type { Staff } from './staff.ts';
import type { SimWorld } from './world.ts';

/** Names and meaning are the operator's contract (§4). */
export interface Violations {
  lost_command: number;
  duplicate_submit: number;
  unledgered_charge: number;
  foreign_column_write: number;
  stuck_row: number;
  lost_artifact: number;
}

export function noViolations(): Violations {
  return {
    lost_command: 0,
    duplicate_submit: 0,
    unledgered_charge: 0,
    foreign_column_write: 0,
    stuck_row: 0,
    lost_artifact: 0,
  };
}

/** Our books, read whole. */
export interface OwnBooks {
  readonly executions: readonly ExecutionRecord[];
  readonly attempts: readonly AttemptRecord[];
  readonly charges: readonly ChargeRecord[];
  /** What came before what. */
  readonly order: Order;
}

/** Places in the event log, by execution and by attempt: the worker's wall clock may jump, the log's order may not. */
export interface Order {
  readonly queued: ReadonlyMap<string, number>;
  readonly intended: ReadonlyMap<string, number>;
  /** The attempt had its last word: settled, refused, resolved by a person. */
  readonly settled: ReadonlyMap<string, number>;
  /** Its output was found wanting. */
  readonly outputRefused: ReadonlyMap<string, number>;
}

export type Accuse = (kind: keyof Violations, what: string) => void;

/** Holds the world's own books against ours, when everything has come to rest. */
export async function checkWorld(
  world: SimWorld,
  staff: Staff,
): Promise<{ violations: Violations; faults: readonly string[] }> {
  const violations = noViolations();
  const faults: string[] = [];
  const accuse: Accuse = (kind, what) => {
    violations[kind] += 1;
    faults.push(`${kind}: ${what}`);
  };
  const own = await readOwnBooks(world);
  checkCommands(world, staff, accuse);
  checkWrites(world, accuse);
  checkRest(world, staff, own, accuse);
  checkAttempts(world, own, accuse);
  checkLedger(world, own, accuse);
  checkArtifacts(world, staff, own, accuse);
  return { violations, faults };
}

async function readOwnBooks({ basePorts }: Pick<SimWorld, 'basePorts'>): Promise<OwnBooks> {
  const { store } = basePorts;
  const executions = await store.executions({ limit: 100_000 });
  const attempts = (await Promise.all(executions.map(async (each) => await store.attempts(each.id)))).flat();
  return { executions, attempts, charges: await store.charges({}), order: await readOrder(store) };
}

const told = [
  'execution-queued',
  'attempt-intended',
  'attempt-settled',
  'attempt-refused',
  'attempt-resolved',
  'output-refused',
] as const;

async function readOrder(store: Store): Promise<Order> {
  const order = {
    queued: new Map<string, number>(),
    intended: new Map<string, number>(),
    settled: new Map<string, number>(),
    outputRefused: new Map<string, number>(),
  };
  for (let after = 0; ; ) {
    const events = await store.events(after, 1_000, { types: told });
    for (const { seq, type, executionId, data } of events) {
      const id = type === 'execution-queued' ? executionId : data['attemptId'];
      if (typeof id === 'string') order[placeOf(type)].set(id, seq);
    }
    after = events.at(-1)?.seq ?? after;
    if (events.length < 1_000) return order;
  }
}

function placeOf(type: string): keyof Order {
  if (type === 'execution-queued') return 'queued';
  if (type === 'attempt-intended') return 'intended';
  return type === 'output-refused' ? 'outputRefused' : 'settled';
}
