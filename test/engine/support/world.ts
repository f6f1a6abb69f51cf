import { createHash } from 'node:crypto';
import type { Definitions, Provider, Settings } from '../../../src/contract/index.ts';
import { createEngine, type EngineDeps } from '../../../src/engine/index.ts';
import type {
  Collector,
  Engine,
  EventRecord,
  ExecutionRecord,
  NodeFunction,
  OutboxRecord,
  Store,
  SubmitRequest,
} from '../../../src/engine/ports/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  type ExecutionId,
  type JsonObject,
  noFailpoints,
  silentLogger,
  type VirtualClock,
} from '../../../src/kernel/index.ts';
import { openTestStore } from '../../support/test-store.ts';
import { shippedSettings } from './definitions.ts';

/** An engine on a real store in memory, under a virtual clock. */
export interface World {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly engine: Engine;
  readonly deps: EngineDeps;
  /** Ends this engine without ceremony: whatever it was doing never goes on. */
  kill(): void;
  /** Ends this engine without ceremony (its ports go dead) and starts another on the same store. */
  restart(change?: Partial<EngineDeps>): Promise<void>;
  submit(request?: Partial<SubmitRequest>): Promise<ExecutionId>;
  execution(id: ExecutionId): Promise<ExecutionRecord>;
  /** Lets time pass until the execution has ended, or held, or the limit is over. */
  settle(id: ExecutionId, limitMs?: number): Promise<ExecutionRecord>;
  eventsOf(id: ExecutionId): Promise<readonly EventRecord[]>;
  types(id: ExecutionId): Promise<readonly string[]>;
  outbox(): Promise<readonly OutboxRecord[]>;
  cny(id?: ExecutionId): Promise<number>;
}

export interface WorldOptions {
  readonly definitions: Definitions;
  readonly providers?: ReadonlyMap<string, Provider>;
  readonly functions?: Readonly<Record<string, NodeFunction>>;
  readonly settings?: Settings;
  readonly clock?: VirtualClock;
  readonly store?: Store;
  readonly deps?: Partial<EngineDeps>;
  readonly start?: boolean;
  readonly seed?: number;
  /** Applied to every incarnation's ports: for faults planted there. */
  readonly change?: (deps: EngineDeps) => Partial<EngineDeps>;
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const clock = options.clock ?? createVirtualClock();
  const store = options.store ?? (await openTestStore(clock));
  const random = createSeededRandom(options.seed ?? 1);
  const ids = createIdSource(clock, random);
  const lines: string[] = [];
  const base: EngineDeps = {
    store,
    clock,
    ids,
    random,
    failpoints: noFailpoints,
    logger: silentLogger,
    settings: options.settings ?? shippedSettings(),
    definitions: () => options.definitions,
    providers: options.providers ?? new Map(),
    functions: new Map(Object.entries(options.functions ?? {})),
    collector: instantCollector,
    owner: 'worker-1',
    freeBytes: () => Promise.resolve(10 ** 12),
    sideFile: {
      append: (line) => lines.push(line),
      readAll: () => [...lines],
      clear: () => {
        lines.length = 0;
      },
    },
    ...options.deps,
  };
  let gate = createGate();
  const changed = (deps: EngineDeps): EngineDeps => ({ ...deps, ...options.change?.(deps) });
  let deps = gate.wrap(changed(base));
  let engine = createEngine(deps);
  let serial = 0;
  const world: World = {
    clock,
    store,
    get engine() {
      return engine;
    },
    get deps() {
      return deps;
    },
    kill: () => {
      gate.kill();
    },
    restart: async (change = {}) => {
      gate.kill();
      gate = createGate();
      deps = gate.wrap(changed({ ...base, ...change }));
      engine = createEngine(deps);
      await running(clock, engine.start());
    },
    submit: async (request = {}) => {
      serial += 1;
      const [first] = options.definitions.workflows.keys();
      const receipt = await running(
        clock,
        engine.submit({
          workflow: first ?? '',
          input: {},
          sourceRef: `test:row${serial}#stage`,
          labels: {},
          generation: 1,
          idempotencyKey: `key-${serial}`,
          ...request,
        }),
      );
      if (!receipt.ok) throw new Error(`${receipt.failure.code}: ${receipt.failure.message}`);
      return receipt.value.executionId;
    },
    execution: async (id) => {
      const record = await store.execution(id);
      if (record === undefined) throw new Error(`no execution ${id}`);
      return record;
    },
    settle: async (id, limitMs = 7_200_000) => {
      const until = clock.monotonicMs() + limitMs;
      for (;;) {
        await clock.advance(0);
        const record = await world.execution(id);
        if (record.endedAt !== undefined || record.status === 'held' || clock.monotonicMs() >= until) return record;
        await clock.advance(Math.max(1, Math.min(clock.nextDueInMs() ?? 1_000, until - clock.monotonicMs())));
      }
    },
    eventsOf: async (id) => await store.events(0, 10_000, { executionId: id }),
    types: async (id) => (await world.eventsOf(id)).map((event) => event.type),
    outbox: async () => await store.outbox(1_000),
    cny: async (id) => {
      const charges = await store.charges(id === undefined ? {} : { executionId: id });
      return charges.filter((charge) => charge.state !== 'released').reduce((sum, charge) => sum + charge.cnyMicros, 0);
    },
  };
  if (options.start !== false) await running(clock, engine.start());
  return world;
}

/** Drives the clock while a promise of the engine needs it. */
export async function running<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  const state: { done: boolean } = { done: false };
  const settled = promise.finally(() => {
    state.done = true;
  });
  settled.catch(() => undefined);
  for (let turn = 0; !isDone(state) && turn < 1_000; turn += 1) await clock.advance(turn < 50 ? 0 : 10);
  return await settled;
}

function isDone(state: { readonly done: boolean }): boolean {
  return state.done;
}

/** What a killed process leaves behind: its ports never settle again, its timers never fire. */
function createGate(): { wrap(deps: EngineDeps): EngineDeps; kill(): void } {
  let isDead = false;
  const pass = async <T>(promise: Promise<T>): Promise<T> => {
    if (isDead) return await new Promise<T>(() => undefined);
    try {
      const value = await promise;
      if (isKilled()) return await new Promise<T>(() => undefined);
      return value;
    } catch (error) {
      if (isKilled()) return await new Promise<T>(() => undefined);
      throw error;
    }
  };
  const isKilled = (): boolean => isDead;
  return {
    kill: () => {
      isDead = true;
    },
    wrap: (deps) => ({
      ...deps,
      store: gated(deps.store, pass, isKilled),
      collector: gated(deps.collector, pass, isKilled),
      providers: new Map(
        [...deps.providers].map(([name, each]) => [
          name,
          { ...each, adapters: each.adapters.map((adapter) => gated(adapter, pass, isKilled)) },
        ]),
      ),
      clock: {
        nowMs: () => deps.clock.nowMs(),
        monotonicMs: () => deps.clock.monotonicMs(),
        after: (delayMs, run) =>
          deps.clock.after(delayMs, () => {
            if (!isDead) run();
          }),
      },
    }),
  };
}

function gated<Port extends object>(
  port: Port,
  pass: <T>(promise: Promise<T>) => Promise<T>,
  isKilled: () => boolean,
): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || name === 'onAppend' || name === 'onControl') return member;
      return (...args: unknown[]) => {
        if (isKilled()) return new Promise(() => undefined);
        return pass(Reflect.apply(member, target, args) as Promise<unknown>);
      };
    },
  });
}

/** Every address turns into a file of its own at once. */
export const instantCollector: Collector = {
  collect: (remote, nameHint) =>
    Promise.resolve({
      ok: true,
      value: {
        kind: 'artifact',
        hash: createHash('sha256').update(remote.url).digest('hex'),
        sizeBytes: 100,
        mime: remote.media === 'video' ? 'video/mp4' : 'image/png',
        name: `${nameHint}.${remote.media === 'video' ? 'mp4' : 'png'}`,
      },
    }),
};

/** A function node that gives back its input. */
export const echo: NodeFunction = (input: JsonObject) => Promise.resolve({ ok: true, value: input });
