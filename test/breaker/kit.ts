import { join } from 'node:path';
import { waitUntil } from '../../src/app/index.ts';
import type { ChargeRecord, Store } from '../../src/engine/ports/index.ts';
import { createSystemClock, type JsonObject, silentLogger } from '../../src/kernel/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

const clock = createSystemClock();

/** The real program, a world that misbehaves, and a table that its people type in. */
export interface Breaker {
  readonly outside: Outside;
  /** Starts the worker; `more` goes over the environment of before. */
  start(more?: Readonly<Record<string, string>>): WorkerProcess;
  worker(): WorkerProcess;
  row(cells?: JsonObject): Promise<string>;
  type(recordId: string, cells: JsonObject): void;
  text(recordId: string, column: string): string;
  /** How many files lie in a cell. */
  files(recordId: string, column: string): readonly JsonObject[];
  /** Waits until 状态 is one of these and 操作 is empty. */
  until(recordId: string, ...statuses: string[]): Promise<void>;
  wait(what: string, done: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  /** Runs a command beside the worker and gives what it printed. */
  command(...args: string[]): Promise<{ code: number | null; output: string }>;
  store(): Store;
  /** What alerts said, by title, pushes and group messages apart. */
  alerts(): { readonly pushes: readonly string[]; readonly group: readonly string[] };
  close(): Promise<void>;
}

export async function openBreaker(agent = 'try-on'): Promise<Breaker> {
  const outside = await openOutside(agent);
  const { sandbox, table } = outside;
  let worker: WorkerProcess | undefined;
  let env = { ...outside.env };
  const text = (recordId: string, column: string): string => sandbox.table.text(table, recordId, column);
  const wait: Breaker['wait'] = async (what, done, limitMs = 40_000) => {
    const isDone = await waitUntil(clock, async () => await done(), 40, limitMs);
    if (isDone) return;
    const rows = sandbox.table.recordIds(table).map((id) => sandbox.table.row(table, id));
    throw new Error(
      `waited in vain: ${what}\n${JSON.stringify(rows, undefined, 1)}\n${worker?.output().slice(-6_000) ?? ''}`,
    );
  };
  return {
    outside,
    start: (more = {}) => {
      env = { ...env, ...more };
      worker = startWorkerProcess(env);
      return worker;
    },
    worker: () => {
      if (worker === undefined) throw new Error('no worker was started');
      return worker;
    },
    row: async (cells = { 操作: '提交' }) =>
      sandbox.table.createRow(table, { 产品图: [{ file_token: await outside.picture() }], ...cells }),
    type: (recordId, cells) => {
      sandbox.table.setCells(table, recordId, cells);
    },
    text,
    files: (recordId, column) => {
      const cell = sandbox.table.row(table, recordId)?.[column];
      return Array.isArray(cell) ? (cell as JsonObject[]) : [];
    },
    until: async (recordId, ...statuses) => {
      await wait(
        `${recordId} in ${statuses.join('/')}`,
        () => statuses.includes(text(recordId, '状态')) && text(recordId, '操作') === '',
      );
    },
    wait,
    command: async (...args) => {
      const run = startWorkerProcess(env, args);
      const { code } = await run.ended;
      return { code, output: run.output() };
    },
    store: () =>
      createSqliteStore({ path: join(env['GRIDLOOM_DATA_DIR'] ?? '', 'gridloom.db'), clock, logger: silentLogger }),
    alerts: () => ({
      pushes: sandbox.books.pushes().map((push) => push.title),
      group: sandbox.books
        .messages()
        .filter((message) => message.receiveId === 'oc_sandbox_alerts')
        .map((message) => message.content),
    }),
    close: async () => {
      await worker?.kill();
      await outside.close();
    },
  };
}

/** Ledger minus bill, per vendor's unit, in millionths; empty when they agree. Chat models are priced by the table, not here. */
export async function ledgerDrift(breaker: Breaker): Promise<Readonly<Record<string, number>>> {
  const store = breaker.store();
  const charges = await store.charges({});
  await store.close();
  const drift: Record<string, number> = {};
  const add = (unit: string, micros: number): void => {
    drift[unit] = (drift[unit] ?? 0) + micros;
  };
  for (const charge of charges) if (isVendorCredit(charge)) add(charge.amount.currency, charge.amount.micros);
  for (const line of breaker.outside.sandbox.books.bill())
    if (line.unit.startsWith('credit:')) add(line.unit, -line.amountMicros);
  return Object.fromEntries(Object.entries(drift).filter(([, micros]) => micros !== 0));
}

function isVendorCredit(charge: ChargeRecord): boolean {
  return charge.state === 'settled' && charge.amount.currency.startsWith('credit:');
}

/** The sum that the ledger holds for a row, in yuan. */
export async function rowCost(breaker: Breaker, recordId: string): Promise<number> {
  const store = breaker.store();
  const charges = await store.charges({});
  await store.close();
  return (
    charges
      .filter((charge) => charge.sourceRef.includes(`/${recordId}#`) && charge.state !== 'released')
      .reduce((sum, charge) => sum + charge.cnyMicros, 0) / 1e6
  );
}

/** An alert has reached both channels. */
export function told(breaker: Breaker): boolean {
  const { pushes, group } = breaker.alerts();
  return pushes.length > 0 && group.length > 0;
}
