import type { Store } from '../engine/ports/index.ts';
import type { UploadSessions } from '../feishu/index.ts';
import type { Clock } from '../kernel/index.ts';

const collection = 'feishu.upload';

/** Uploads in parts that are under way, as documents of the store: after a crash they go on where they stood. */
export function createUploadSessions(store: Store, clock: Clock): UploadSessions {
  return {
    load: async (key) => (await store.document(collection, key))?.value,
    save: async (key, value) =>
      await store.commit([{ type: 'put-document', record: { collection, key, value, updatedAt: clock.nowMs() } }]),
    remove: async (key) => await store.commit([{ type: 'delete-document', collection, key }]),
  };
}
