import { createSystemClock, silentLogger } from '../../src/kernel/index.ts';
import { createWorkerPresence } from '../../src/store/index.ts';

// A worker that shows its sign of life, says so, and stays until it is killed or frozen.
const [connectionString = '', owner = ''] = process.argv.slice(2);
const presence = await createWorkerPresence({
  connectionString,
  owner,
  clock: createSystemClock(),
  logger: silentLogger,
});
await presence.tryLock('base-of-child');
process.stdout.write(`${presence.owner}\n`);
