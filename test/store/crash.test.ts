import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSystemClock, createVirtualClock, silentLogger, sleep } from '../../src/kernel/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { useDirectory } from './directory.ts';

const script = fileURLToPath(new URL('./crash.child.ts', import.meta.url));

describe('kill -9 in the middle of writing', () => {
  const directory = useDirectory();

  it.each(['loop', 'thread'])('keeps every commit that was told as done, each whole (writer: %s)', async (kind) => {
    const path = directory.file('a.db');
    for (let round = 1; round <= 3; round += 1) {
      const child = spawn(process.execPath, [script, path, kind], { stdio: ['ignore', 'pipe', 'inherit'] });
      let told = '';
      child.stdout.on('data', (chunk: Buffer) => {
        told += chunk.toString('utf8');
      });
      await once(child.stdout, 'data');
      await sleep(createSystemClock(), 40 + round * 37);
      child.kill('SIGKILL');
      await once(child, 'close');

      const store = createSqliteStore({ path, clock: createVirtualClock(), logger: silentLogger });
      const events = await store.events(0, 1_000_000);
      await store.close();
      const numbers = told.slice(0, told.lastIndexOf('\n')).split('\n').map(Number);
      const count = new Map<number, number>();
      for (const event of events) count.set(event.at, (count.get(event.at) ?? 0) + 1);
      expect(numbers.length).toBeGreaterThan(0);
      // Rounds use the same numbers; a list is there whole or not at all.
      expect(numbers.filter((number) => (count.get(number) ?? 0) < 2)).toEqual([]);
      expect([...count.values()].filter((times) => times % 2 !== 0)).toEqual([]);
    }
  });
});
