import { z } from 'zod';
import type { AgentTable, TableSide } from '../bitable/index.ts';
import type { Store } from '../engine/ports/index.ts';
import type { WakeEvent } from '../feishu/index.ts';
import { type Clock, fail, jsonObjectOf, type Logger, ok, sleep } from '../kernel/index.ts';
import type { Lease } from '../store/index.ts';
import type { Scale } from './scale.ts';

const wakeCollection = 'scale.wake';
const wakeLookMs = 1_000;
/** How long a start waits for the first look at the leases, to tell of columns that do not fit. */
const firstLookMs = 3_000;
const againMs = 60_000;
const eventSchema = z.object({
  eventId: z.string(),
  tableId: z.string(),
  appToken: z.string().optional(),
  operatorId: z.string().optional(),
  isOwn: z.boolean().optional(),
  records: z.array(
    z.object({
      recordId: z.string(),
      action: z.string(),
      fieldIds: z.array(z.string()),
      after: z.record(z.string(), z.json()).optional(),
    }),
  ),
});

/** What goes on at one base while this worker holds it. */
interface Held {
  readonly side: TableSide;
  /** Fulfilled once it runs; `faults` are columns that do not fit. */
  readonly started: Promise<readonly Fault[]>;
  readonly abort: AbortController;
  isOpen: boolean;
}
/** What the house needs of a table side, whether one or several are behind it. */
export type HouseTables = Omit<TableSide, 'status'>;
type Fault = Extract<Awaited<ReturnType<TableSide['start']>>, { ok: false }>['failure'][number];

/**
 * The table side of a worker among several: a base is read and written by the one worker that holds its lease, since
 * Feishu allows one writer a base. It behaves as the table side of the bases that are held just now. An edit that the long
 * connection tells of reaches any one worker: where that is not the holder, the event is left in the store for it.
 */
export function createLeasedTables(deps: {
  readonly scale: Pick<Scale, 'lease'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly agents: readonly AgentTable[];
  readonly monthlyBudget: number;
  /** What it does in the base's name goes through the lease. */
  readonly create: (base: string, agents: readonly AgentTable[], lease: Lease) => TableSide;
}): HouseTables {
  const { clock, logger, store } = deps;
  const byBase = Map.groupBy(deps.agents, ({ table }) => table.appToken);
  const held = new Map<string, Held>();
  const ending = new Map<string, Promise<void>>();
  const closing = new AbortController();
  let leases: ReturnType<Scale['lease']> | undefined;
  let watching: Promise<void> = Promise.resolve();
  const sides = (): TableSide[] => [...held.values()].map((each) => each.side);

  const open = async (base: string, one: Omit<Held, 'started'>): Promise<readonly Fault[]> => {
    const { side, abort } = one;
    await ending.get(base);
    for (let first: readonly Fault[] | undefined; ; ) {
      const fit = await side.start();
      one.isOpen = fit.ok;
      if (fit.ok) return first ?? [];
      first ??= fit.failure;
      const faults = fit.failure.map((fault) => `${fault.problem}；${fault.remedy}`);
      logger.error('the columns of a base do not fit', { base, faults });
      if (leases === undefined || abort.signal.aborted) return first;
      await sleep(clock, againMs, abort.signal);
    }
  };
  const gain = (base: string, lease: Lease): void => {
    const side = deps.create(base, byBase.get(base) ?? [], lease);
    const parts: Omit<Held, 'started'> = { side, abort: new AbortController(), isOpen: false };
    const started = open(base, parts);
    started.catch((error: unknown) => {
      if (!parts.abort.signal.aborted) logger.error('a base cannot be worked on', { base, error: String(error) });
    });
    held.set(base, Object.assign(parts, { started }));
  };
  const lose = async (base: string): Promise<void> => {
    const one = held.get(base);
    if (one === undefined) return;
    held.delete(base);
    one.abort.abort();
    const ended = one.side.stop();
    ending.set(base, ended);
    await ended;
  };
  const takeWakes = async (): Promise<void> => {
    if (held.size === 0) return;
    for (const { key, value } of await store.documents(wakeCollection, { limit: 200 })) {
      const event = eventSchema.safeParse(value);
      const base = event.success ? baseOf(event.data.tableId) : undefined;
      const side = base === undefined ? undefined : held.get(base)?.side;
      if (event.success && side !== undefined) side.wake(wakeOf(event.data));
      else if (event.success && base !== undefined) continue;
      await store.commit([{ type: 'delete-document', collection: wakeCollection, key }]);
    }
  };
  const baseOf = (tableId: string): string | undefined =>
    deps.agents.find(({ table }) => table.tableId === tableId)?.table.appToken;
  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await takeWakes().catch((error: unknown) => logger.warn('told edits cannot be read', { error: String(error) }));
      await sleep(clock, wakeLookMs, closing.signal).catch(() => undefined);
    }
  };
  return {
    start: async () => {
      const names = [...byBase.keys()];
      leases = deps.scale.lease(names, { onGained: gain, onLost: lose });
      watching = watch();
      const untilMs = clock.monotonicMs() + firstLookMs;
      while (held.size === 0 && clock.monotonicMs() < untilMs) await sleep(clock, 50);
      const first = [...held.values()].map(async ({ started }) => await started);
      // A wait that goes on behind our back would hold up the end of the process.
      const enough = new AbortController();
      const untilThen = AbortSignal.any([enough.signal, closing.signal]);
      const expired = sleep(clock, firstLookMs, untilThen).catch(() => undefined);
      const faults = await Promise.race([Promise.all(first), expired.then(() => [])]).finally(() => enough.abort());
      return faults.flat().length === 0 ? ok(undefined) : fail(faults.flat());
    },
    tick: async () => {
      // A base that is still being opened, or whose columns do not fit, has no turn yet.
      await Promise.all([...held.values()].filter(({ isOpen }) => isOpen).map(async ({ side }) => await side.tick()));
    },
    wake: (event) => {
      const base = baseOf(event.tableId);
      const side = base === undefined ? undefined : held.get(base)?.side;
      if (side !== undefined) side.wake(event);
      else if (base !== undefined) void leaveWake(deps, event);
    },
    stop: async () => {
      closing.abort();
      await leases?.close();
      await watching;
      await Promise.all([...ending.values()]);
    },
    callsThisMonth: () => sides()[0]?.callsThisMonth() ?? { thisMonth: 0, monthlyBudget: deps.monthlyBudget },
    idle: async () => {
      await Promise.all(sides().map(async (side) => await side.idle()));
    },
  };
}

/** For the worker that holds the base; a lost one costs no more than the next search. */
async function leaveWake(
  { store, clock, logger }: { readonly store: Store; readonly clock: Clock; readonly logger: Logger },
  event: WakeEvent,
): Promise<void> {
  const record = {
    collection: wakeCollection,
    key: event.eventId,
    value: jsonObjectOf(event),
    updatedAt: clock.nowMs(),
  };
  await store.commit([{ type: 'put-document', record }]).catch((error: unknown) => {
    logger.warn('a told edit was not passed on', { error: String(error) });
  });
}

/** Absent members stay absent. */
function wakeOf(read: z.infer<typeof eventSchema>): WakeEvent {
  const { appToken, operatorId, isOwn, records, ...rest } = read;
  return {
    ...rest,
    ...(appToken === undefined ? {} : { appToken }),
    ...(operatorId === undefined ? {} : { operatorId }),
    ...(isOwn === undefined ? {} : { isOwn }),
    records: records.map(({ after, ...record }) => ({ ...record, ...(after === undefined ? {} : { after }) })),
  };
}
