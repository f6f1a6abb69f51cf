import type { TableSideDeps } from '../bitable/index.ts';
import { StorageError } from '../engine/ports/index.ts';
import { fail } from '../kernel/index.ts';
import type { Lease } from '../store/index.ts';

/** What of a table side's surroundings acts in its base's name. */
type Acting = Pick<TableSideDeps, 'store' | 'client' | 'engine'>;

/**
 * Lets a table side act only while its base's lease lasts: nothing is stored, written into cells, submitted or cancelled by
 * one that read a row, slept, and lost the base to another meanwhile. What it reads, it may.
 */
export function guardActing({ store, client, engine }: Acting, lease: Lease): Acting {
  return {
    store: { ...store, commit: async (commands) => await lease.run(async () => await store.commit(commands)) },
    client: {
      ...client,
      updateRecords: async (table, writes, signal) => {
        try {
          return await lease.run(async () => await client.updateRecords(table, writes, signal));
        } catch (error) {
          if (!(error instanceof StorageError)) throw error;
          return fail({ code: 0, httpStatus: 0, message: error.message, outcome: 'refused', class: 'retry' });
        }
      },
    },
    engine: {
      ...engine,
      submit: async (request) => await lease.run(async () => await engine.submit(request)),
      cancel: async (id, reason) => {
        await lease.run(async () => {
          await engine.cancel(id, reason);
        });
      },
    },
  };
}
