import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** A fresh folder for each test, gone afterwards. */
export function useDirectory(): { readonly file: (name: string) => string; readonly path: string } {
  let path = '';
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'gridloom-store-'));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  return {
    file: (name) => join(path, name),
    get path() {
      return path;
    },
  };
}
