/** Ends a switch over a union: the compiler proves it unreachable, and a value from outside that slipped in is named. */
export function assertNever(value: never): never {
  throw new Error(`unreachable case: ${JSON.stringify(value)}`);
}
