import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

declare const brand: unique symbol;
/** A string that only its maker may call by this name. */
export type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ExecutionId = Branded<'ExecutionId'>;
export type AttemptId = Branded<'AttemptId'>;
export type ChargeId = Branded<'ChargeId'>;
export type CommandId = Branded<'CommandId'>;

/** Ids, as an argument: UUIDv7, so that ids sort by the time of their making. */
export interface IdSource {
  uuid(): string;
}

const hexOfByte = Array.from({ length: 256 }, (_unused, byte) => byte.toString(16).padStart(2, '0'));

/**
 * UUIDv7 (RFC 9562): 48 bits of epoch milliseconds, then 12 bits that count within one millisecond, then randomness. Ids
 * of one source strictly grow even when the wall clock steps back.
 */
export function createIdSource(clock: Clock, random: Random): IdSource {
  let lastMs = 0;
  let counter = 0;
  return {
    uuid: () => {
      const nowMs = clock.nowMs();
      if (nowMs > lastMs) {
        lastMs = nowMs;
        counter = 0;
      } else {
        counter += 1;
        if (counter > 0xfff) {
          lastMs += 1;
          counter = 0;
        }
      }
      const time = lastMs.toString(16).padStart(12, '0');
      const count = counter.toString(16).padStart(3, '0');
      const tail = random.bytes(8);
      tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80;
      let rest = '';
      for (const byte of tail) rest += hexOfByte[byte] ?? '';
      return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${rest.slice(0, 4)}-${rest.slice(4)}`;
    },
  };
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function brandedUuid<Name extends string>(kind: Name, text: string): Branded<Name> {
  if (!uuidPattern.test(text)) throw new Error(`not a ${kind}: "${text}"`);
  // The one place where a checked string becomes a branded one.
  return text as Branded<Name>; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
}

/** Each throws on a string that is not a UUID: stored ids are parsed when read back. */
export const executionId = (text: string): ExecutionId => brandedUuid('ExecutionId', text);
export const attemptId = (text: string): AttemptId => brandedUuid('AttemptId', text);
export const chargeId = (text: string): ChargeId => brandedUuid('ChargeId', text);
export const commandId = (text: string): CommandId => brandedUuid('CommandId', text);
