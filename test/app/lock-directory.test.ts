import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openDataDirectory } from '../../src/app/data-directory.ts';
import { isWorkerRunningIn, lockDirectory } from '../../src/app/lock-directory.ts';
import { createDirectoryFiles, loadConfig } from '../../src/config/index.ts';
import { type Clock, createVirtualClock } from '../../src/kernel/index.ts';
import { acquireDataDirectory } from '../../src/store/index.ts';
import { projectDirectory } from '../support/outside.ts';

const root = await mkdtemp(join(tmpdir(), 'gridloom-lock-'));
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

/** A directory that somebody holds, and a clock on which a waiting worker's time passes at once. */
async function heldDirectory(name: string, onWait: (release: () => void) => void) {
  const env = { GRIDLOOM_DATA_DIR: join(root, name) };
  const config = await loadConfig({ files: createDirectoryFiles(projectDirectory), env, sandbox: {} });
  if (!config.ok) throw new Error(JSON.stringify(config.failure));
  const directory = await openDataDirectory(projectDirectory, config.value.environment);
  const time = createVirtualClock();
  const held = acquireDataDirectory(directory.root, { clock: time, pid: 4_711 });
  if (!held.ok) throw new Error('held already');
  const clock: Clock = {
    nowMs: () => time.nowMs(),
    monotonicMs: () => time.monotonicMs(),
    after: (delayMs, run) => {
      onWait(held.value.release);
      const cancel = time.after(delayMs, run);
      void time.advance(delayMs);
      return cancel;
    },
  };
  return { config: config.value, directory, clock, release: held.value.release };
}

describe('a worker that wants its data directory', () => {
  it('waits for one that only looked, as doctor does', async () => {
    const { config, clock, directory } = await heldDirectory('looked', (release) => release());
    const locked = await lockDirectory(projectDirectory, config, clock);
    if (!locked.ok) throw new Error(locked.failure.lines.join('\n'));
    expect(isWorkerRunningIn(directory)).toBe(true);
    locked.value.lock.release();
    expect(isWorkerRunningIn(directory)).toBe(false);
  });

  it('twin: gives up with 75 and the holder’s name when it is kept', async () => {
    const { config, clock, release } = await heldDirectory('kept', () => undefined);
    const locked = await lockDirectory(projectDirectory, config, clock);
    expect(locked).toMatchObject({ ok: false, failure: { exitCode: 75 } });
    expect(JSON.stringify(locked)).toContain('pid 4711');
    release();
  });
});
