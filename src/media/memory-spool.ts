import { createHash } from 'node:crypto';
import type { Artifact, Failure } from '../contract/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { createIntake, type IntakeOptions, storageFailure } from './intake.ts';
import type { Spool } from './spool.ts';

/** The spool of tests and simulation: in order, in microtasks, with the same checks as the one on disk. */
export function createMemorySpool(): Spool {
  const files = new Map<string, Uint8Array>();
  const read = (artifact: Artifact): Result<Uint8Array, Failure> => {
    const bytes = files.get(artifact.hash);
    return bytes === undefined ? fail(gone(artifact)) : ok(bytes);
  };
  const store = async (
    chunks: AsyncIterable<Uint8Array>,
    options: IntakeOptions,
    signal: AbortSignal,
  ): Promise<Result<Artifact, Failure>> => {
    const intake = createIntake(options);
    const kept: Uint8Array[] = [];
    for await (const chunk of chunks) {
      signal.throwIfAborted();
      const failure = intake.take(chunk);
      if (failure !== undefined) return fail(failure);
      kept.push(chunk.slice());
    }
    const fault = intake.fault();
    if (fault !== undefined) return fail(fault);
    const bytes = Buffer.concat(kept);
    const hash = createHash('sha256').update(bytes).digest('hex');
    files.set(hash, bytes);
    return ok(intake.artifact(hash));
  };
  return {
    store,
    read: (artifact) => Promise.resolve(read(artifact)),
    keep: async (bytes, nameHint) =>
      await store(single(bytes), { nameHint, maxBytes: bytes.byteLength }, new AbortController().signal),
    open: async function* (artifact, offset, length) {
      await Promise.resolve();
      const bytes = read(artifact);
      if (!bytes.ok) throw new Error(bytes.failure.message);
      yield bytes.value.subarray(offset, offset + length);
    },
    has: (hash) => Promise.resolve(files.has(hash)),
    remove: (hash) => {
      files.delete(hash);
      return Promise.resolve();
    },
    sizeBytes: () => Promise.resolve([...files.values()].reduce((sum, bytes) => sum + bytes.byteLength, 0)),
  };
}

export async function* single(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes);
}

export function gone(artifact: Artifact): Failure {
  return storageFailure(new Error(`the spool no longer holds ${artifact.name} (${artifact.hash.slice(0, 12)})`));
}
