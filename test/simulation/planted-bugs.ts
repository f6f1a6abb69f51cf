import type { Ports } from '../../src/app/index.ts';
import type { ExecutionRecord, OutboxRecord, Store, StoreCommand } from '../../src/engine/ports/index.ts';
import { type Fetch, isJsonObject, type JsonObject, type Random } from '../../src/kernel/index.ts';
import type { Violations } from './checks.ts';
import type { SimWorld } from './world.ts';

/** Bugs that the product must not have, put between worker and world: who tests the tester. */
export interface PlantedBug {
  readonly name: string;
  /** What the checks must call it. */
  readonly caughtAs: keyof Violations;
  readonly plant: (ports: Ports, world: SimWorld) => Ports;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'a submit that a client repeats on its own',
    caughtAs: 'duplicate_submit',
    plant: (ports, world) => ({ ...ports, fetch: repeatSubmits(ports.fetch, world.luck('plant')) }),
  },
  {
    name: 'a command that was said to be stored and was not',
    caughtAs: 'lost_command',
    plant: (ports, world) => ({ ...ports, store: loseCommands(ports.store, world.luck('plant')) }),
  },
  {
    name: 'a charge that is dropped on its way to the ledger',
    caughtAs: 'unledgered_charge',
    plant: (ports, world) => ({ ...ports, store: dropCharges(ports.store, world.luck('plant')) }),
  },
  {
    name: 'a write that touches a cell of staff’s',
    caughtAs: 'foreign_column_write',
    plant: (ports, world) => ({ ...ports, fetch: writeForeignCells(ports.fetch, world.luck('plant')) }),
  },
  {
    name: 'a result of an earlier generation in the place of the newest',
    caughtAs: 'lost_artifact',
    plant: (ports) => ({ ...ports, store: serveOldResults(ports.store) }),
  },
];

function repeatSubmits(fetch: Fetch, random: Random): Fetch {
  return async (url, init) => {
    const isSubmit = init.method === 'POST' && /createTask|images\/generations|videos\/generations/.test(url);
    if (isSubmit && random.next() < 0.1) await fetch(url, init);
    return await fetch(url, init);
  };
}

function loseCommands(store: Store, random: Random): Store {
  return withCommit(store, (command) => {
    const isCommand = command.type === 'put-document' && command.record.collection === 'bitable-command';
    return isCommand && command.record.value['phase'] === 'stored' && random.next() < 0.1;
  });
}

function dropCharges(store: Store, random: Random): Store {
  return withCommit(store, (command) => command.type === 'put-charge' && random.next() < 0.1);
}

function withCommit(store: Store, isDropped: (command: StoreCommand) => boolean): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'commit')
        return async (commands: readonly StoreCommand[]): Promise<void> =>
          await target.commit(commands.filter((command) => !isDropped(command)));
      const member: unknown = Reflect.get(target, name);
      return member;
    },
  });
}

function writeForeignCells(fetch: Fetch, random: Random): Fetch {
  return async (url, init) => {
    const { body } = init;
    if (!url.includes('records/batch_update') || typeof body !== 'string' || random.next() >= 0.05)
      return await fetch(url, init);
    return await fetch(url, { ...init, body: withForeignCell(body) });
  };
}

function withForeignCell(body: string): string {
  const parsed: unknown = JSON.parse(body);
  const records: readonly unknown[] = isJsonObject(parsed) && Array.isArray(parsed['records']) ? parsed['records'] : [];
  const changed = records.map((record) =>
    isJsonObject(record) && isJsonObject(record['fields'])
      ? { ...record, fields: { ...record['fields'], 打回意见: '（机器人写的）' } }
      : record,
  );
  return JSON.stringify({ ...(isJsonObject(parsed) ? parsed : {}), records: changed });
}

/** Whatever ends is told with the output that the same stage had before, where it had one. */
function serveOldResults(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name !== 'outbox') {
        const member: unknown = Reflect.get(target, name);
        return member;
      }
      return async (limit: number, afterSeq?: number): Promise<readonly OutboxRecord[]> =>
        await Promise.all((await target.outbox(limit, afterSeq)).map(async (entry) => await older(target, entry)));
    },
  });
}

async function older(store: Store, entry: OutboxRecord): Promise<OutboxRecord> {
  if (entry.message.kind !== 'ended' || entry.message.output === undefined) return entry;
  const executions = await store.executions({ sourceRefPrefix: entry.sourceRef, limit: 50 });
  const before = executions.find((each) => isEarlierSuccess(each, entry));
  return before?.output === undefined ? entry : { ...entry, message: { ...entry.message, output: before.output } };
}

function isEarlierSuccess(
  execution: ExecutionRecord,
  entry: OutboxRecord,
): execution is ExecutionRecord & { readonly output: JsonObject } {
  return (
    execution.sourceRef === entry.sourceRef &&
    execution.status === 'succeeded' &&
    execution.id !== entry.executionId &&
    execution.generation < entry.generation
  );
}
