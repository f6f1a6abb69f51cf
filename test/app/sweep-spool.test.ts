import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sweepSpool } from '../../src/app/sweep-spool.ts';

describe('the spool is kept bounded', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridloom-sweep-'));
  });
  afterEach(async () => await rm(directory, { recursive: true, force: true }));

  const put = async (letter: string, ageDays: number): Promise<string> => {
    const hash = letter.repeat(64);
    await mkdir(join(directory, hash.slice(0, 2)), { recursive: true });
    const path = join(directory, hash.slice(0, 2), hash);
    await writeFile(path, 'x');
    const at = new Date(Date.now() - ageDays * 86_400_000);
    await utimes(path, at, at);
    return hash;
  };

  it('old files go, unless something under way names them; new ones and half-written ones stay', async () => {
    const old = await put('a', 20);
    const needed = await put('b', 20);
    const fresh = await put('c', 1);
    await mkdir(join(directory, 'partial'));
    await writeFile(join(directory, 'partial', 'half'), 'x');
    expect(await sweepSpool(directory, Date.now() - 14 * 86_400_000, new Set([needed]))).toBe(1);
    const left = (await readdir(directory, { recursive: true })).join(' ');
    expect(left).not.toContain(old);
    for (const kept of [needed, fresh, 'half']) expect(left).toContain(kept);
  });
});
