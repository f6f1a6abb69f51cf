import { createSystemClock } from '../../src/kernel/index.ts';
import { acquireDataDirectory } from '../../src/store/index.ts';

// Takes the directory named on the command line, says so, and stays until it is killed.
const taken = acquireDataDirectory(process.argv[2] ?? '', { clock: createSystemClock() });
process.stdout.write(`${JSON.stringify(taken)}\n`);
process.stdin.resume();
