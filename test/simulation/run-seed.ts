import { createHash } from 'node:crypto';
import { assemble, createTickLoop, type House, type Ports } from '../../src/app/index.ts';
import type { LoadedConfig } from '../../src/config/index.ts';
import { type Failpoints, randomInt } from '../../src/kernel/index.ts';
import { unleash } from './adversary.ts';
import { checkWorld, noViolations, type Violations } from './checks.ts';
import { createIncarnation, type Incarnation } from './incarnation.ts';
import { hireStaff } from './staff.ts';
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
const calmMs = 6 * hourMs;

/** One world, from its seed to its books. */
export async function runSeed(seed: number, options: SeedOptions): Promise<SeedReport> {
  const world = await createSimWorld(seed, options.config);
  const random = world.luck('fate');
  const life = createLife(world, options);
  await life.begin();
  const trouble = unleash(world);
  const staff = await hireStaff(world, options.rows ?? 3 + randomInt(random, 6));
  const mostCrashes = randomInt(random, 6);
  for (let crash = 0; crash < mostCrashes; crash += 1) life.crashAt(randomInt(random, activeMs));
  if (random.next() < 0.2) fillDisk(world, randomInt(random, activeMs));
  if (random.next() < 0.2)
    world.clock.after(randomInt(random, activeMs), () => world.clock.jumpWall((random.next() - 0.3) * 2 * hourMs));
  await world.clock.runUntil(activeMs);
  trouble.stop();
  staff.retire();
  life.becomeImmortal();
  await world.clock.runUntil(activeMs + calmMs);
  staff.stop();
  await world.clock.runUntil(activeMs + calmMs + hourMs);
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

async function allEvents(world: SimWorld): Promise<string> {
  const lines: string[] = [];
  for (let after = 0; ; ) {
    const events = await world.basePorts.store.events(after, 1_000);
    for (const event of events) lines.push(JSON.stringify(event));
    after = events.at(-1)?.seq ?? after;
    if (events.length < 1_000) return lines.join('\n');
  }
}

/** The disk is nearly full for a while. */
function fillDisk(world: SimWorld, atMs: number): void {
  world.clock.after(atMs, () => {
    const { freeBytes } = world.disk;
    world.disk.freeBytes = 10 * 1024 ** 2;
    world.clock.after(hourMs / 2, () => {
      world.disk.freeBytes = freeBytes;
    });
  });
}

/** The worker's lives: it is started, killed at drawn times and at failpoints, and started again on the same disk. */
function createLife(world: SimWorld, options: SeedOptions) {
  const random = world.luck('life');
  const faults: string[] = [];
  let crashes = 0;
  let isMortal = true;
  let current: Incarnation | undefined;
  const failpointChance = random.next() < 0.5 ? random.next() * 0.01 : 0;
  const atFailpoint = (kill: () => void): Failpoints => ({
    hit: () => {
      if (isMortal && failpointChance > 0 && random.next() < failpointChance) die(kill);
    },
  });
  const die = (kill: () => void): void => {
    kill();
    crashes += 1;
    world.clock.after(1_000 + randomInt(random, 120_000), () => void begin());
  };
  const begin = async (): Promise<void> => {
    const base = options.plant?.(world.basePorts, world) ?? world.basePorts;
    const incarnation = createIncarnation(base, atFailpoint);
    current = incarnation;
    const assembled = await assemble(world.config, incarnation.ports);
    if (!assembled.ok) {
      faults.push(`the house could not be assembled: ${assembled.failure.message}`);
      return;
    }
    await startHouse(assembled.value, incarnation, world);
  };
  return {
    begin,
    faults: () => faults,
    crashes: () => crashes,
    crashAt: (atMs: number): void => {
      world.clock.after(atMs, () => {
        const victim = current;
        if (victim?.isAlive() === true && isMortal) die(() => victim.kill());
      });
    },
    becomeImmortal: (): void => {
      isMortal = false;
    },
    end: (): void => current?.kill(),
  };
}

async function startHouse(house: House, incarnation: Incarnation, world: SimWorld): Promise<void> {
  const { clock } = incarnation.ports;
  // Starting waits for the world, which waits for time: it must not be awaited by whoever moves time.
  void house.start().then((started) => {
    if (!started.ok) throw new Error(started.failure.join('; '));
    createTickLoop(house, clock, world.config.settings.poll.interval).start();
  });
  await Promise.resolve();
}

export { noViolations };
