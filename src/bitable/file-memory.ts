import { type Artifact, artifactSchema } from '../contract/index.ts';
import type { Store } from '../engine/ports/index.ts';
import type { Clock } from '../kernel/index.ts';
import { z } from 'zod';
import { collections, putDocument } from './row-documents.ts';

/**
 * Which file token of a base stands for which bytes, both ways. A token is good in its base only; the same bytes are
 * uploaded once a base, and a file whose bytes we hold is never downloaded again.
 */
export interface FileMemory {
  tokenOf(appToken: string, hash: string): Promise<string | undefined>;
  artifactOf(appToken: string, fileToken: string): Promise<Artifact | undefined>;
  remember(appToken: string, fileToken: string, artifact: Artifact): Promise<void>;
  /** The platform no longer takes the token for this hash. */
  forget(appToken: string, hash: string): Promise<void>;
}

const tokenDocument = z.object({ fileToken: z.string() });
const artifactDocument = z.object({ artifact: artifactSchema });

export function createFileMemory(store: Store, clock: Clock): FileMemory {
  const byHash = (appToken: string, hash: string): string => `${appToken}/hash/${hash}`;
  const byToken = (appToken: string, token: string): string => `${appToken}/token/${token}`;
  return {
    tokenOf: async (appToken, hash) => {
      const record = await store.document(collections.file, byHash(appToken, hash));
      return record === undefined ? undefined : tokenDocument.parse(record.value).fileToken;
    },
    artifactOf: async (appToken, fileToken) => {
      const record = await store.document(collections.file, byToken(appToken, fileToken));
      return record === undefined ? undefined : artifactDocument.parse(record.value).artifact;
    },
    remember: async (appToken, fileToken, artifact) => {
      await store.commit([
        putDocument(clock, collections.file, byHash(appToken, artifact.hash), { fileToken }),
        putDocument(clock, collections.file, byToken(appToken, fileToken), { artifact }),
      ]);
    },
    forget: async (appToken, hash) => {
      await store.commit([{ type: 'delete-document', collection: collections.file, key: byHash(appToken, hash) }]);
    },
  };
}
