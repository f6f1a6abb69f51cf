/**
 * A life: when it ends, nothing that was asked of a port through it ever settles again, as after a kill. `callsLeft` lets it
 * end in the middle of things: at that call, whose work may or may not have been done.
 */
export interface Life {
  isOver: boolean;
  callsLeft: number;
  /** Whether the work of the last call is still done. */
  isLastDone: boolean;
}

/** The port as one incarnation of the process sees it. */
export function mortal<T extends object>(port: T, life: Life): T {
  return new Proxy(port, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (life.isOver) return new Promise(() => undefined);
        life.callsLeft -= 1;
        if (life.callsLeft <= 0) {
          life.isOver = true;
          if (!life.isLastDone) return new Promise(() => undefined);
        }
        const result: unknown = Reflect.apply(member, target, args);
        if (!(result instanceof Promise)) return result;
        return new Promise((resolve, reject) => {
          result.then(
            (value) => {
              if (!life.isOver) resolve(value);
            },
            (error: unknown) => {
              if (!life.isOver) reject(error instanceof Error ? error : new Error(String(error)));
            },
          );
        });
      };
    },
  });
}
