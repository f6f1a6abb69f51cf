import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageError } from '../../src/engine/ports/index.ts';
import { createSideFile } from '../../src/store/index.ts';

describe('side file for handles when the disk is full', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'gridloom-side-'));
    path = join(directory, 'handles.side');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('reserves its room when it is made, so that appending needs no free block', () => {
    const file = createSideFile(path);
    const before = statSync(path);
    file.append('{"task":"一"}');
    file.append('{"task":"2"}');
    expect(statSync(path)).toMatchObject({ size: 65_536, blocks: before.blocks });
    expect(before.blocks * 512).toBeGreaterThanOrEqual(65_536);
    file.close();
  });

  it('gives every line back after a restart, and none after a clear', () => {
    const first = createSideFile(path);
    first.append('a');
    first.append('b');
    first.close();
    const second = createSideFile(path);
    expect(second.readAll()).toEqual(['a', 'b']);
    second.append('c');
    expect(second.readAll()).toEqual(['a', 'b', 'c']);
    second.clear();
    expect(second.readAll()).toEqual([]);
    second.append('d');
    expect(second.readAll()).toEqual(['d']);
    expect(statSync(path).size).toBe(65_536);
    second.close();
  });

  it('leaves out a line that a crash tore, and never shows its tail again', () => {
    const first = createSideFile(path, 64);
    first.append('whole');
    first.close();
    const bytes = readFileSync(path);
    bytes.write('torn and long', 6);
    writeFileSync(path, bytes);
    const second = createSideFile(path, 64);
    expect(second.readAll()).toEqual(['whole']);
    second.append('x');
    expect(second.readAll()).toEqual(['whole', 'x']);
    second.close();
    const third = createSideFile(path, 64);
    expect(third.readAll()).toEqual(['whole', 'x']);
    third.close();
  });

  it('restores its room when the file was cut short', () => {
    createSideFile(path).close();
    truncateSync(path, 10);
    createSideFile(path).close();
    expect(statSync(path).size).toBe(65_536);
  });

  it('says so when it is full, and keeps what it has', () => {
    const file = createSideFile(path, 16);
    file.append('0123456789');
    expect(() => file.append('0123456789')).toThrow(StorageError);
    expect(file.readAll()).toEqual(['0123456789']);
    file.close();
  });

  it('refuses a line with a line break and a folder that is not there', () => {
    const file = createSideFile(path);
    expect(() => file.append('a\nb')).toThrow('no line break');
    file.close();
    expect(() => createSideFile(join(directory, 'none', 'x'))).toThrow(StorageError);
  });
});
