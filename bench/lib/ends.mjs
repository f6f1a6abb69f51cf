/** Resolves when the outbox says that an execution ended; entries are acknowledged in bulk, as the table side does. */
export function followEnds(store, { ours = () => true } = {}) {
  const waiting = new Map();
  const early = new Set();
  let cursor = 0;
  let reading = false;
  let again = false;
  const read = async () => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    do {
      again = false;
      const entries = await store.outbox(500, cursor);
      if (entries.length === 0) continue;
      cursor = entries.at(-1).seq;
      const mine = entries.filter(({ sourceRef }) => ours(sourceRef));
      await store.commit(mine.map(({ seq }) => ({ type: 'ack-outbox', seq })));
      for (const { executionId } of mine) {
        const resolve = waiting.get(executionId);
        waiting.delete(executionId);
        if (resolve === undefined) early.add(executionId);
        else resolve();
      }
      again ||= entries.length === 500;
    } while (again);
    reading = false;
  };
  store.onAppend(() => void read());
  return (id) =>
    new Promise((resolve) => {
      if (early.delete(id)) resolve();
      else waiting.set(id, resolve);
    });
}
