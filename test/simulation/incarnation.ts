import type { Ports } from '../../src/app/index.ts';
import type { Store } from '../../src/engine/ports/index.ts';
import type { Clock, Failpoints } from '../../src/kernel/index.ts';
import type { WakeSource } from '../../src/feishu/index.ts';
import type { Spool } from '../../src/media/index.ts';

/**
 * One life of the worker: its ports work until it is killed, and from then on nothing that it asked ever settles and
 * nothing that it still does has an effect. What had been handed over before goes on in the world, as after a SIGKILL.
 */
export interface Incarnation {
  readonly ports: Ports;
  isAlive(): boolean;
  kill(): void;
}

export function createIncarnation(base: Ports, atFailpoint: (kill: () => void) => Failpoints): Incarnation {
  let alive = true;
  const kill = (): void => {
    alive = false;
  };
  const isAlive = (): boolean => alive;
  const clock: Clock = {
    nowMs: () => base.clock.nowMs(),
    monotonicMs: () => base.clock.monotonicMs(),
    after: (delayMs, run) => {
      if (!alive) return () => undefined;
      return base.clock.after(delayMs, () => {
        if (alive) run();
      });
    },
  };
  const failpoints = atFailpoint(kill);
  const ports: Ports = {
    ...base,
    clock,
    // What still runs on the stack after the kill must not die, and be started again, a second time.
    failpoints: {
      hit: (name) => {
        if (alive) failpoints.hit(name);
      },
    },
    fetch: (url, init) => call(isAlive, () => base.fetch(url, init)),
    store: gateStore(base.store, isAlive),
    spool: gateSpool(base.spool, isAlive),
    sideFile: {
      append: (line) => {
        if (alive) base.sideFile.append(line);
      },
      readAll: () => base.sideFile.readAll(),
      clear: () => {
        if (alive) base.sideFile.clear();
      },
    },
    freeBytes: () => call(isAlive, base.freeBytes),
    ...(base.wakeSource === undefined ? {} : { wakeSource: gateWake(base.wakeSource, isAlive) }),
  };
  return { ports, isAlive, kill };
}

/** Asks only while alive, and answers only while alive. */
async function call<T>(isAlive: () => boolean, ask: () => Promise<T>): Promise<T> {
  if (!isAlive()) return await never<T>();
  try {
    const answer = await ask();
    return isAlive() ? answer : await never<T>();
  } catch (error) {
    if (!isAlive()) return await never<T>();
    throw error;
  }
}

async function never<T>(): Promise<T> {
  return await new Promise<T>(() => undefined);
}

const listeners = new Set<PropertyKey>(['onAppend', 'onControl']);

function gateStore(store: Store, isAlive: () => boolean): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (listeners.has(name)) {
        return (listener: () => void): unknown =>
          Reflect.apply(member, target, [() => (isAlive() ? listener() : undefined)]);
      }
      if (name === 'close') return async () => await Promise.resolve();
      return async (...args: unknown[]): Promise<unknown> =>
        await call(isAlive, async () => (await Reflect.apply(member, target, args)) as unknown);
    },
  });
}

function gateWake(source: WakeSource, isAlive: () => boolean): WakeSource {
  return {
    ...source,
    start: async (onWake) => {
      await call(isAlive, () =>
        source.start((event) => {
          if (isAlive()) onWake(event);
          // Nobody is there any more: the connection of a dead process is cut.
          else void source.stop();
        }),
      );
    },
  };
}

function gateSpool(spool: Spool, isAlive: () => boolean): Spool {
  return {
    read: (artifact, signal) => call(isAlive, () => spool.read(artifact, signal)),
    keep: (bytes, nameHint) => call(isAlive, () => spool.keep(bytes, nameHint)),
    store: (chunks, options, signal) => call(isAlive, () => spool.store(chunks, options, signal)),
    open: (artifact, offset, length, memory) => spool.open(artifact, offset, length, memory),
    has: (hash) => call(isAlive, () => spool.has(hash)),
    remove: (hash) => call(isAlive, () => spool.remove(hash)),
    sizeBytes: () => call(isAlive, () => spool.sizeBytes()),
  };
}
