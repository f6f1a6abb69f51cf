import { beforeEach, expect, it } from 'vitest';
import type { TableSide } from '../../src/bitable/index.ts';
import type { Store } from '../../src/engine/ports/index.ts';
import type { WakeEvent } from '../../src/feishu/index.ts';
import { createVirtualClock, ok, silentLogger } from '../../src/kernel/index.ts';
import { createLeasedTables, type HouseTables } from '../../src/app/scale-tables.ts';
import type { Scale } from '../../src/app/scale.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { tryOn } from '../bitable/support/world.ts';

let clock = createVirtualClock();
let store: Store;
beforeEach(() => {
  clock = createVirtualClock();
  store = createSqliteStore({ path: ':memory:', clock, logger: silentLogger });
});
const event: WakeEvent = {
  eventId: 'event-1',
  tableId: 'tbl1',
  operatorId: 'ou_1',
  records: [{ recordId: 'rec1', action: 'record_edited', fieldIds: ['fld1'], after: { fld1: '提交' } }],
};

/** A worker's table side; `hold` gives it the base. */
function worker(): { readonly tables: HouseTables; readonly woken: WakeEvent[]; readonly hold: () => void } {
  const woken: WakeEvent[] = [];
  let hold: () => void = () => undefined;
  const side: TableSide = {
    start: () => Promise.resolve(ok(undefined)),
    tick: () => Promise.resolve(),
    wake: (each) => void woken.push(each),
    stop: () => Promise.resolve(),
    status: () => expect.unreachable(),
    callsThisMonth: () => ({ thisMonth: 0, monthlyBudget: 0 }),
    idle: () => Promise.resolve(),
  };
  const lease: Scale['lease'] = (names, holding) => {
    hold = () => {
      for (const name of names) holding.onGained(name, { run: async (work) => await work() });
    };
    return { held: () => [], close: () => Promise.resolve() };
  };
  const tables = createLeasedTables({
    scale: { lease },
    store,
    clock,
    logger: silentLogger,
    agents: [{ definition: tryOn, table: { appToken: 'base1', tableId: 'tbl1' } }],
    monthlyBudget: 0,
    create: () => side,
  });
  void tables.start();
  return { tables, woken, hold: () => hold() };
}

it('an edit told to a worker that does not hold the base is left for the holder, who obeys it within a second', async () => {
  const [holder, other] = [worker(), worker()];
  holder.hold();
  await clock.advance(2_000);
  other.tables.wake(event);
  await clock.advance(1_000);
  expect(holder.woken).toEqual([event]);
  expect(other.woken).toEqual([]);
  expect(await store.documents('scale.wake', {})).toEqual([]);

  // Once told is once obeyed, whoever holds it later.
  other.hold();
  await clock.advance(5_000);
  expect(other.woken).toEqual([]);
  expect(holder.woken).toHaveLength(1);
});

it('an edit that nobody holds the base for waits for the next holder; of a table that nobody knows it is dropped', async () => {
  const [heir, other] = [worker(), worker()];
  await clock.advance(1_000);
  other.tables.wake({ ...event, eventId: 'event-2' });
  other.tables.wake({ ...event, eventId: 'event-3', tableId: 'tblUnknown' });
  await clock.advance(10_000);
  expect(await store.documents('scale.wake', {})).toHaveLength(1);
  heir.hold();
  await clock.advance(1_500);
  expect(heir.woken.map(({ eventId }) => eventId)).toEqual(['event-2']);
});
