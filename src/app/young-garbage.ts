import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';

type Collect = (options: { readonly type: 'minor' }) => void;

/**
 * Collects the young generation now (a millisecond or less, the nursery being small). Node hands the collector out only to
 * contexts made while `expose-gc` is on; it is asked for at the first use. Where it is not given, nothing is done.
 */
export function createYoungGarbageCollector(): () => void {
  let collect: Collect | undefined;
  return () => {
    collect ??= obtain();
    collect({ type: 'minor' });
  };
}

const collectSchema = z.custom<Collect>((value) => typeof value === 'function');

function obtain(): Collect {
  setFlagsFromString('--expose-gc');
  const found = collectSchema.safeParse(runInNewContext('typeof gc === "function" ? gc : undefined'));
  setFlagsFromString('--no-expose-gc');
  return found.success ? found.data : () => undefined;
}
