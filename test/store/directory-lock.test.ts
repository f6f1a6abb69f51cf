import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/kernel/index.ts';
import { acquireDataDirectory } from '../../src/store/index.ts';

const child = fileURLToPath(new URL('./directory-lock.child.ts', import.meta.url));

describe('one worker a data directory', () => {
  let directory: string;
  let holder: ChildProcess | undefined;
  const clock = createVirtualClock();
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'gridloom-lock-'));
  });
  afterEach(() => {
    holder?.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  const startHolder = async (): Promise<ChildProcess> => {
    const started = spawn(process.execPath, [child, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
    holder = started;
    await once(started.stdout, 'data');
    return started;
  };

  it('P044 names the pid and the start of the process that holds it', async () => {
    const other = await startHolder();
    const refused = acquireDataDirectory(directory, { clock });
    expect(refused).toMatchObject({ ok: false, failure: { pid: other.pid } });
    expect(refused.ok || refused.failure.startedAt).toBeGreaterThan(1_700_000_000_000);
  });

  it('P139 is free at once after kill -9, with nothing to delete by hand', async () => {
    const other = await startHolder();
    other.kill('SIGKILL');
    await once(other, 'exit');
    const taken = acquireDataDirectory(directory, { clock });
    expect(taken.ok).toBe(true);
    if (taken.ok) taken.value.release();
  });

  it('P139 does not care that the pid in the file belongs to a living program', () => {
    writeFileSync(join(directory, 'worker.json'), JSON.stringify({ pid: process.ppid, startedAt: 1 }));
    const taken = acquireDataDirectory(directory, { clock });
    expect(taken.ok).toBe(true);
    if (taken.ok) taken.value.release();
  });

  it('refuses a second worker in the same process and frees it on release', () => {
    const first = acquireDataDirectory(directory, { clock, pid: 42 });
    expect(acquireDataDirectory(directory, { clock })).toEqual({
      ok: false,
      failure: { pid: 42, startedAt: clock.nowMs() },
    });
    if (first.ok) first.value.release();
    const second = acquireDataDirectory(directory, { clock });
    expect(second.ok).toBe(true);
    if (second.ok) second.value.release();
  });

  it('still refuses when the description cannot be read', () => {
    const first = acquireDataDirectory(directory, { clock });
    writeFileSync(join(directory, 'worker.json'), '{');
    expect(acquireDataDirectory(directory, { clock })).toEqual({ ok: false, failure: { pid: 0, startedAt: 0 } });
    if (first.ok) first.value.release();
  });

  it('outlives whoever took it and forgot it: no garbage collection gives the directory away', async () => {
    const forget = (): void => expect(acquireDataDirectory(directory, { clock }).ok).toBe(true);
    forget();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (let round = 0; round < 3; round += 1) {
      collect();
      await new Promise(setImmediate);
    }
    expect(acquireDataDirectory(directory, { clock }).ok).toBe(false);
  });

  it('says that the folder is not there', () => {
    expect(() => acquireDataDirectory(join(directory, 'none'), { clock })).toThrow('does not exist');
  });
});
