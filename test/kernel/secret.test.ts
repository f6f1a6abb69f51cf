import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { canonicalJson, Secret } from '../../src/kernel/index.ts';

it('a secret is shown by nothing but reveal', () => {
  const secret = new Secret('sk-very-secret');
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect(secret, { showHidden: true }),
  ].join();
  expect(shown).not.toContain('very');
  expect(secret.reveal()).toBe('sk-very-secret');
});

it('canonical JSON does not depend on the order of keys and drops what is undefined', () => {
  expect(canonicalJson({ b: [{ y: 1, x: undefined }], a: null })).toBe(canonicalJson({ a: null, b: [{ y: 1 }] }));
  expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
});
