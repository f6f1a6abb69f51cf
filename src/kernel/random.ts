/** Randomness, as an argument. */
export interface Random {
  /** A float in [0, 1). */
  next(): number;
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
}

/** An integer in [0, limit). */
export function randomInt(random: Random, limit: number): number {
  return Math.floor(random.next() * limit);
}

/** Full jitter: anywhere between nothing and `capMs`. */
export function fullJitterMs(random: Random, capMs: number): number {
  return Math.floor(random.next() * Math.max(0, capMs));
}

/** Bytes are asked of the operating system in portions: a question costs as much as this many of them. */
const portionBytes = 4_096;

/** The operating system's randomness. Only `app` builds it. */
export function createSystemRandom(): Random {
  let portion = new Uint8Array(0);
  let used = 0;
  return {
    next: () => Math.random(),
    bytes: (length) => {
      if (length > portionBytes) return crypto.getRandomValues(new Uint8Array(length));
      if (used + length > portion.length) {
        portion = crypto.getRandomValues(new Uint8Array(portionBytes));
        used = 0;
      }
      const bytes = portion.slice(used, used + length);
      used += length;
      return bytes;
    },
  };
}

/** A repeatable stream (mulberry32): one seed gives one sequence, on every machine. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { next, bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)) };
}
