import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { openSharedWorker } from '../../src/store/index.ts';

// A worker that takes up whatever it is told to and says which; it never ends an execution by itself.
const [connectionString = '', owner = ''] = process.argv.slice(2);
const worker = await openSharedWorker({ connectionString, owner, clock: createSystemClock(), logger: silentLogger });
const { store, presence } = worker;
await worker.startDispatching(async (id) => {
  const execution = await store.execution(id);
  if (execution === undefined) return;
  if (execution.owner !== undefined && !(await presence.isGone(execution.owner))) return;
  const claim = { type: 'claim-execution', id, owner, expectedEpoch: execution.epoch } as const;
  const isOurs = await store.commit([claim]).then(
    () => true,
    () => false,
  );
  if (isOurs) process.stdout.write(`${id}\n`);
});
process.stdout.write('ready\n');
