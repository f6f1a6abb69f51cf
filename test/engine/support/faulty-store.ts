import { type Store, StorageError } from '../../../src/engine/ports/index.ts';

/** A store whose reads fail on demand: `refuse('remembered', 2)` makes the next two reads of that name fail. */
export interface Faults {
  refuse(read: keyof Store, times: number, error?: Error): void;
  /** How many reads of that name have failed. */
  refused(read: keyof Store): number;
  wrap(store: Store): Store;
}

export function createFaults(): Faults {
  const left = new Map<string, { times: number; readonly error: Error }>();
  const counts = new Map<string, number>();
  return {
    refuse: (read, times, error = new StorageError('the database is away')) => {
      left.set(read, { times, error });
    },
    refused: (read) => counts.get(read) ?? 0,
    wrap: (store) =>
      new Proxy(store, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function' || typeof name !== 'string') return member;
          return (...args: unknown[]): unknown => {
            const fault = left.get(name);
            if (fault === undefined || fault.times <= 0) return Reflect.apply(member, target, args);
            fault.times -= 1;
            counts.set(name, (counts.get(name) ?? 0) + 1);
            return Promise.reject(fault.error);
          };
        },
      }),
  };
}
