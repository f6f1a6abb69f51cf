import type { Ports } from '../../src/app/index.ts';
import { StorageError, type Store } from '../../src/engine/ports/index.ts';
import { type Fetch, type Random, randomInt } from '../../src/kernel/index.ts';
import type { SimWorld } from './world.ts';

const minuteMs = 60_000;

/** What the worker finds of its disk. Full: no commit goes through; the preallocated side file still takes its lines. */
export interface Disk {
  freeBytes: number;
  isFull: boolean;
  /** Whether it may fill up just when that hurts most. */
  mayFill: boolean;
}

/** Large troubles that come over the whole world for a while, each in some of the seeds. All are over at `untilMs`. */
export function brewWeather(world: SimWorld, untilMs: number): void {
  const random = world.luck('weather');
  const some = (chance: number, happen: (forMs: number) => () => void, longestMs: number): void => {
    if (random.next() >= chance) return;
    const atMs = randomInt(random, untilMs - longestMs);
    const forMs = minuteMs + randomInt(random, longestMs - minuteMs);
    world.clock.after(atMs, () => world.clock.after(forMs, happen(forMs)));
  };
  const { sandbox, disk } = world;
  some(0.2, () => lowDisk(disk), 40 * minuteMs);
  some(0.2, () => fullDisk(disk), 10 * minuteMs);
  some(0.15, () => emptyAccount(world), 30 * minuteMs);
  some(0.1, () => spentQuota(world), 20 * minuteMs);
  for (let count = 0; count < 3; count += 1)
    if (random.next() < 0.4) world.clock.after(randomInt(random, untilMs), () => sandbox.platform.expireTokens());
  if (random.next() < 0.2)
    world.clock.after(randomInt(random, untilMs), () => world.clock.jumpWall((random.next() - 0.3) * 120 * minuteMs));
  sandbox.controls.errorForm = (['200', '4xx', 'alternate'] as const)[randomInt(random, 3)] ?? '200';
}

function lowDisk(disk: Disk): () => void {
  const { freeBytes } = disk;
  disk.freeBytes = 10 * 1024 ** 2;
  return () => {
    disk.freeBytes = freeBytes;
  };
}

function fullDisk(disk: Disk): () => void {
  disk.isFull = true;
  return () => {
    disk.isFull = false;
  };
}

function emptyAccount({ sandbox }: SimWorld): () => void {
  sandbox.platform.setFunds('kie', 3);
  return () => sandbox.platform.setFunds('kie', 1_000_000);
}

function spentQuota({ sandbox }: SimWorld): () => void {
  sandbox.controls.quotaLeft = 5;
  return () => {
    sandbox.controls.quotaLeft = undefined;
  };
}

/** The ports as the disk allows them; now and then it fills up just when a vendor has taken a task on. */
export function onDisk(ports: Ports, disk: Disk, random: Random): Ports {
  return { ...ports, store: storeOnDisk(ports.store, disk), fetch: fetchThatFills(ports, disk, random) };
}

function storeOnDisk(store: Store, disk: Disk): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name !== 'commit') {
        const member: unknown = Reflect.get(target, name);
        return member;
      }
      return async (...args: Parameters<Store['commit']>): Promise<void> => {
        if (disk.isFull) throw new StorageError('database or disk is full');
        await target.commit(...args);
      };
    },
  });
}

function fetchThatFills({ fetch, clock }: Ports, disk: Disk, random: Random): Fetch {
  const worstChance = random.next() < 0.2 ? 0.05 : 0;
  return async (url, init) => {
    const response = await fetch(url, init);
    const isSubmit = init.method === 'POST' && /createTask|generations/.test(url);
    if (isSubmit && disk.mayFill && !disk.isFull && random.next() < worstChance)
      clock.after(randomInt(random, 3) * minuteMs + 5_000, fullDisk(disk));
    return response;
  };
}
