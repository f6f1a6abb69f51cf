import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Why the worker does not run under it: docs/decisions/051. When this fails, look at that note again. */
it('Node’s permission model still forbids fsync, on which "never lose work" rests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gridloom-permission-'));
  const script = `const fs = require('node:fs');
    const file = fs.openSync(${JSON.stringify(join(folder, 'x'))}, 'w');
    fs.writeSync(file, 'x');
    try { fs.fsyncSync(file); console.log('synced'); } catch (error) { console.log(error.code); }`;
  const flags = ['--permission', `--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`];
  const run = (args: readonly string[]): string =>
    spawnSync(process.execPath, [...args, '-e', script], { encoding: 'utf8', timeout: 20_000 }).stdout.trim();
  expect(run(flags)).toBe('ERR_ACCESS_DENIED');
  expect(run([])).toBe('synced');
  rmSync(folder, { recursive: true });
});
