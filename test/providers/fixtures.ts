import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A recorded-style answer of a vendor. */
export function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, '../fixtures/providers', name), 'utf8');
}
