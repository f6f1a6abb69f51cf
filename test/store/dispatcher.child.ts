import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { createDispatcher, createPostgresStore, createWorkerPresence } from '../../src/store/index.ts';

// A worker that takes up whatever it is told to and says which; it never ends an execution by itself.
const [connectionString = '', owner = ''] = process.argv.slice(2);
const clock = createSystemClock();
const shared = { connectionString, clock, logger: silentLogger };
const presence = await createWorkerPresence({ ...shared, owner });
const store = await createPostgresStore(shared);
const dispatcher = await createDispatcher({
  ...shared,
  presence,
  takeUp: async (id) => {
    const execution = await store.execution(id);
    if (execution === undefined) return;
    if (execution.owner !== undefined && !(await presence.isGone(execution.owner))) return;
    const claim = { type: 'claim-execution', id, owner, expectedEpoch: execution.epoch } as const;
    const isOurs = await store.commit([claim]).then(
      () => true,
      () => false,
    );
    if (isOurs) process.stdout.write(`${id}\n`);
  },
});
await dispatcher.start();
process.stdout.write('ready\n');
