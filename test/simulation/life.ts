import { assemble, createTickLoop, type House, type Ports } from '../../src/app/index.ts';
import { type Failpoints, randomInt } from '../../src/kernel/index.ts';
import { createIncarnation, type Incarnation } from './incarnation.ts';
import { createSimWake } from './wake.ts';
import { onDisk } from './weather.ts';
import type { SimWorld } from './world.ts';

/** The worker's lives: started, killed at drawn times and at failpoints, stopped politely, and started again on the same disk. */
export interface Life {
  begin(): Promise<void>;
  /** What is wrong with a life as such, in words. */
  faults(): readonly string[];
  crashes(): number;
  crashAt(atMs: number): void;
  /** From now on nothing kills it. */
  becomeImmortal(): void;
  end(): void;
}

const drainMs = 30_000;

export function createLife(world: SimWorld, plant?: (ports: Ports, world: SimWorld) => Ports): Life {
  const random = world.luck('life');
  const faults: string[] = [];
  let crashes = 0;
  let isMortal = true;
  let current: { readonly incarnation: Incarnation; readonly stop: () => Promise<void> } | undefined;
  const failpointChance = random.next() < 0.5 ? random.next() * 0.01 : 0;
  const beginLater = (): void => {
    world.clock.after(1_000 + randomInt(random, 120_000), () => void begin());
  };
  const die = (kill: () => void): void => {
    kill();
    crashes += 1;
    beginLater();
  };
  const atFailpoint = (kill: () => void): Failpoints => ({
    hit: () => {
      if (isMortal && failpointChance > 0 && random.next() < failpointChance) die(kill);
    },
  });
  const begin = async (): Promise<void> => {
    const ports = onDisk(plant?.(world.basePorts, world) ?? world.basePorts, world.disk, world.luck('disk'));
    const wakeSource = createSimWake(world);
    const incarnation = createIncarnation(wakeSource === undefined ? ports : { ...ports, wakeSource }, atFailpoint);
    const assembled = await assemble(world.config, incarnation.ports);
    if (!assembled.ok) {
      faults.push(`the house could not be assembled: ${assembled.failure.message}`);
      return;
    }
    current = { incarnation, stop: startHouse(assembled.value, incarnation, world, beginLater) };
  };
  return {
    begin,
    faults: () => faults,
    crashes: () => crashes,
    crashAt: (atMs: number): void => {
      const isPolite = random.next() < 0.25;
      world.clock.after(atMs, () => {
        const victim = current;
        if (victim?.incarnation.isAlive() !== true || !isMortal) return;
        if (isPolite) void victim.stop().then(() => stopped(victim.incarnation));
        else die(() => victim.incarnation.kill());
      });
    },
    becomeImmortal: (): void => {
      isMortal = false;
    },
    end: (): void => current?.incarnation.kill(),
  };

  /** A failpoint may have killed it while it drained. */
  function stopped(incarnation: Incarnation): void {
    if (!incarnation.isAlive()) return;
    incarnation.kill();
    beginLater();
  }
}

/**
 * Starting waits for the world, which waits for time: whoever moves time does not await it. A table that does not fit (or
 * a disk that takes nothing) ends the process with words, and the process manager starts it again. Returns the way to stop.
 */
function startHouse(house: House, incarnation: Incarnation, world: SimWorld, again: () => void): () => Promise<void> {
  const loop = createTickLoop(house, incarnation.ports.clock, world.config.settings.poll.interval);
  const giveUp = (): void => {
    if (!incarnation.isAlive()) return;
    incarnation.kill();
    again();
  };
  void house.start().then((started) => {
    if (started.ok) loop.start();
    else giveUp();
  }, giveUp);
  return async () => {
    await loop.stop();
    await house.stop(drainMs).catch(() => undefined);
  };
}
