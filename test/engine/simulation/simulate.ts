import type { EngineDeps } from '../../../src/engine/index.ts';
import type { AttemptRecord } from '../../../src/engine/ports/index.ts';
import {
  createSeededRandom,
  createVirtualClock,
  type ExecutionId,
  type FailpointName,
  randomInt,
} from '../../../src/kernel/index.ts';
import { shippedSettings } from '../support/definitions.ts';
import { createScriptedVendor, type ScriptedVendor } from '../support/vendor.ts';
import { createWorld, echo, type World } from '../support/world.ts';
import { checkBooks, type Violation } from './check-books.ts';
import { moodyScript, scenarioDefinitions } from './scenario.ts';

export interface SeedReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly crashes: number;
  readonly submits: number;
  readonly ends: Readonly<Record<string, number>>;
  readonly virtualHours: number;
}

export interface SimulationOptions {
  readonly executions?: number;
  /** A fault planted in the ports, to see that the checks see it. */
  readonly plant?: (deps: EngineDeps) => Partial<EngineDeps>;
  readonly plantVendor?: (vendor: ScriptedVendor) => void;
}

/**
 * One seed: a moody pair of vendors, some executions, kills at random instants and places with restarts on the same
 * store, cancels and pauses; at last an operator who knows the vendors' truth resolves what is in doubt. Then the
 * vendors' books are held against ours.
 */
export async function simulateSeed(seed: number, options: SimulationOptions = {}): Promise<SeedReport> {
  const random = createSeededRandom(seed);
  const clock = createVirtualClock();
  const vendors = [
    createScriptedVendor({
      clock,
      name: 'acme',
      script: moodyScript(seed * 7 + 1, false),
      random,
      canCancel: random.next() < 0.5,
    }),
    createScriptedVendor({ clock, name: 'backup', script: moodyScript(seed * 7 + 2, true), random, canFind: true }),
  ];
  for (const vendor of vendors) options.plantVendor?.(vendor);
  const killer = createKiller(random);
  const world = await createWorld({
    definitions: scenarioDefinitions(),
    clock,
    seed,
    functions: { echo },
    settings: shippedSettings(),
    providers: new Map(vendors.map((vendor) => [vendor.provider.account, vendor.provider])),
    deps: { failpoints: { hit: killer.hit } },
    ...(options.plant === undefined ? {} : { change: options.plant }),
  });
  killer.attach(world);
  const ids: ExecutionId[] = [];
  const wanted = options.executions ?? 4;
  while (ids.length < wanted || (await openOf(world)).length > 0) {
    if (ids.length < wanted) ids.push(await submitSurely(world, killer, ids.length));
    await liveAWhile(world, killer, random, ids);
    if (ids.length >= wanted) await resolveWhatIsHeld(world, vendors, random);
    if (clock.monotonicMs() > 400 * 3_600_000) break;
  }
  // Late results and bills of what was canceled: a day and more for the vendors to deliver.
  killer.disarm();
  if (killer.isDead()) await world.restart();
  await world.clock.advance(12 * 3_600_000);
  const executions = await world.store.executions({ limit: 1_000 });
  const ends: Record<string, number> = {};
  for (const record of executions) ends[record.status] = (ends[record.status] ?? 0) + 1;
  return {
    seed,
    violations: await checkBooks(world.store, vendors),
    crashes: killer.count(),
    submits: vendors.reduce((sum, vendor) => sum + vendor.arrivals.length, 0),
    ends,
    virtualHours: Math.round(clock.monotonicMs() / 3_600_000),
  };
}

interface Killer {
  readonly hit: (name: FailpointName) => void;
  attach(world: World): void;
  isDead(): boolean;
  revived(): void;
  disarm(): void;
  count(): number;
  killNow(): void;
}

/** Kills at one in a hundred or so of the named places; the throw only unwinds the stack of what is dead already. */
function createKiller(random: { next(): number }): Killer {
  let world: World | undefined;
  let isArmed = true;
  let isDead = false;
  let count = 0;
  const killNow = (): void => {
    if (isDead) return;
    isDead = true;
    count += 1;
    world?.kill();
  };
  return {
    hit: () => {
      if (isDead) throw new Error('killed');
      if (!isArmed || world === undefined || random.next() >= 0.03) return;
      killNow();
      throw new Error('killed');
    },
    attach: (it) => {
      world = it;
    },
    isDead: () => isDead,
    revived: () => {
      isDead = false;
    },
    disarm: () => {
      isArmed = false;
    },
    count: () => count,
    killNow,
  };
}

async function submitSurely(world: World, killer: Killer, serial: number): Promise<ExecutionId> {
  const request = {
    workflow: 'film',
    input: { idea: `idea ${serial}` },
    sourceRef: `sim:row${serial}#film`,
    labels: { agent: 'try-on' },
    generation: 1,
    idempotencyKey: `sim-${serial}`,
  };
  for (;;) {
    if (killer.isDead()) await reviveSurely(world, killer);
    const asked = world.engine.submit(request);
    asked.catch(() => undefined);
    for (let turn = 0; turn < 20 && !killer.isDead(); turn += 1) await world.clock.advance(0);
    const stored = await world.store.executionByKey(request.idempotencyKey);
    if (stored !== undefined) return stored.id;
  }
}

async function reviveSurely(world: World, killer: Killer): Promise<void> {
  do {
    killer.revived();
    const started = world.restart();
    started.catch(() => undefined);
    for (let turn = 0; turn < 200 && !killer.isDead(); turn += 1) await world.clock.advance(turn < 100 ? 0 : 50);
  } while (killer.isDead());
}

async function liveAWhile(
  world: World,
  killer: Killer,
  random: { next(): number },
  ids: readonly ExecutionId[],
): Promise<void> {
  const forMs = 1_000 + randomInt({ next: () => random.next(), bytes: () => new Uint8Array() }, 120_000);
  const until = world.clock.monotonicMs() + forMs;
  while (world.clock.monotonicMs() < until && !killer.isDead()) {
    await world.clock.advance(
      Math.max(1, Math.min(world.clock.nextDueInMs() ?? 1_000, until - world.clock.monotonicMs())),
    );
  }
  if (random.next() < 0.08) killer.killNow();
  if (killer.isDead()) {
    await world.clock.advance(random.next() * 30_000);
    await reviveSurely(world, killer);
  }
  const chosen = ids[Math.floor(random.next() * ids.length)];
  if (random.next() < 0.03 && chosen !== undefined) void world.engine.cancel(chosen, 'staff').catch(() => undefined);
  if (random.next() < 0.05) void world.engine.pause().catch(() => undefined);
  else if (random.next() < 0.5) void world.engine.resume().catch(() => undefined);
}

async function openOf(world: World): Promise<readonly ExecutionId[]> {
  return (await world.store.unfinished(1_000)).map((record) => record.id);
}

/** The operator looks into the vendor's console: the truth is there. */
async function resolveWhatIsHeld(
  world: World,
  vendors: readonly ScriptedVendor[],
  random: { next(): number },
): Promise<void> {
  if (random.next() > 0.3) return;
  const doubtful = await world.store.attemptsInState(['unknown', 'overdue'], 1_000);
  for (const attempt of doubtful) {
    const execution = await world.store.execution(attempt.executionId);
    if (execution?.status !== 'held') continue;
    const task = vendors.flatMap((vendor) => vendor.tasks).find((each) => each.key === attempt.key);
    if (attempt.state === 'overdue' && task?.behaviour.result !== 'never') continue;
    const asked = world.engine.resolve(attempt.id, verdictOn(attempt, task?.id));
    asked.catch(() => undefined);
    await world.clock.advance(100);
  }
}

function verdictOn(attempt: AttemptRecord, taskId: string | undefined): Parameters<World['engine']['resolve']>[1] {
  // A task that never ends is written off by the operator.
  if (taskId === undefined || attempt.state === 'overdue') return { kind: 'not-accepted', endExecution: true };
  return { kind: 'accepted', taskId };
}
