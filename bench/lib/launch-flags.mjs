import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

/** Gives this process the V8 flags that the product's launcher gives the worker, so that memory is that of the product. */
export function takeLaunchFlags() {
  const launcher = readFileSync(new URL('../../bin/gridloom.mjs', import.meta.url), 'utf8');
  for (const [, flags] of launcher.matchAll(/setFlagsFromString\('([^']+)'\)/g)) setFlagsFromString(flags);
}
