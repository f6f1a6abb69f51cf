import { createHash } from 'node:crypto';
import type { Ports } from '../../src/app/index.ts';
import type { LoadedConfig } from '../../src/config/index.ts';
import { randomInt } from '../../src/kernel/index.ts';
import { unleash } from './adversary.ts';
import { checkWorld, noViolations, type Violations } from './checks.ts';
import { createLife } from './life.ts';
import { hireStaff, type Staff } from './staff.ts';
import { brewWeather } from './weather.ts';
import { createSimWorld, type SimWorld } from './world.ts';

export interface SeedReport {
  readonly seed: number;
  readonly violations: Violations;
  /** What is wrong, in words. */
  readonly faults: readonly string[];
  readonly rows: number;
  readonly commands: number;
  readonly racedCommands: number;
  readonly crashes: number;
  readonly troubles: number;
  readonly submits: number;
  readonly virtualMs: number;
  /** Of the event log, byte for byte. */
  readonly eventsHash: string;
}

export interface SeedOptions {
  readonly config: LoadedConfig;
  /** Put between worker and world: how the simulator itself is tested (planted bugs). */
  readonly plant?: (ports: Ports, world: SimWorld) => Ports;
  readonly rows?: number;
}

const hourMs = 3_600_000;
const activeMs = 3 * hourMs;
/** After the storm: no faults, no crashes, time for every deadline to pass and every late bill to come. */
const longestCalmMs = 14 * hourMs;
/** Long enough for the hourly search for orphans, twice. */
const leastCalmMs = 2 * hourMs;
/** The fourth look comes 4 h 20 min after the task's end; no bill comes later than 2 h. */
const asksThatFindLateBills = 4;

/** One world, from its seed to its books. A world that breaks down is a failing seed, not the end of the campaign. */
export async function runSeed(seed: number, options: SeedOptions): Promise<SeedReport> {
  try {
    return await liveThrough(seed, options);
  } catch (error) {
    return { ...nothing, seed, faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

const nothing: SeedReport = {
  seed: 0,
  violations: noViolations(),
  faults: [],
  rows: 0,
  commands: 0,
  racedCommands: 0,
  crashes: 0,
  troubles: 0,
  submits: 0,
  virtualMs: 0,
  eventsHash: '',
};

async function liveThrough(seed: number, options: SeedOptions): Promise<SeedReport> {
  const world = await createSimWorld(seed, options.config);
  const random = world.luck('fate');
  const life = createLife(world, options.plant);
  await life.begin();
  const trouble = unleash(world);
  const staff = await hireStaff(world, options.rows ?? 3 + randomInt(random, 6));
  const mostCrashes = randomInt(random, 6);
  for (let crash = 0; crash < mostCrashes; crash += 1) life.crashAt(randomInt(random, activeMs));
  brewWeather(world, activeMs);
  await world.clock.runUntil(activeMs);
  trouble.stop();
  world.disk.mayFill = false;
  staff.retire();
  life.becomeImmortal();
  await runUntilAtRest(world, staff, hourMs);
  staff.stop();
  await runUntilAtRest(world, staff, leastCalmMs);
  const checked = await checkWorld(world, staff);
  const events = await allEvents(world);
  life.end();
  return {
    seed,
    violations: checked.violations,
    faults: [...life.faults(), ...checked.faults],
    rows: staff.rows().length,
    commands: staff.typed.length,
    racedCommands: staff.raced(),
    crashes: life.crashes(),
    troubles: trouble.faults(),
    submits: world.sandbox.books.acceptedTasks().length,
    virtualMs: world.clock.monotonicMs(),
    eventsHash: createHash('sha256').update(events).digest('hex'),
  };
}

/** Goes on for at least so long, and then until nothing moves any more (or for too long, which the checks will say). */
async function runUntilAtRest(world: SimWorld, staff: Staff, leastMs: number): Promise<void> {
  const startMs = world.clock.monotonicMs();
  await world.clock.runUntil(startMs + leastMs);
  while (!(await isAtRest(world, staff)) && world.clock.monotonicMs() < startMs + longestCalmMs)
    await world.clock.runUntil(world.clock.monotonicMs() + hourMs / 2);
}

async function isAtRest({ basePorts, sandbox }: SimWorld, staff: Staff): Promise<boolean> {
  const { store } = basePorts;
  const [running, open, outbox, bills] = await Promise.all([
    store.executions({ statuses: ['queued', 'running'], limit: 1 }),
    store.attemptsInState(['intended', 'accepted', 'overdue'], 1),
    store.outbox(1),
    store.documents('engine.late-bills'),
  ]);
  if (running.length + open.length + outbox.length > 0) return false;
  if (bills.some(({ value }) => Number(value['asked']) < asksThatFindLateBills)) return false;
  return staff.rows().every(({ table, recordId }) => {
    const text = (column: string): string => sandbox.table.text(table.tableId, recordId, column);
    return staff.deleted.has(recordId) || (text('操作') === '' && !['生成中', '待确认'].includes(text('状态')));
  });
}

async function allEvents(world: SimWorld): Promise<string> {
  const lines: string[] = [];
  for (let after = 0; ; ) {
    const events = await world.basePorts.store.events(after, 1_000);
    for (const event of events) lines.push(JSON.stringify(event));
    after = events.at(-1)?.seq ?? after;
    if (events.length < 1_000) return lines.join('\n');
  }
}
