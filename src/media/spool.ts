import type { Artifact, Failure, MediaSource } from '../contract/index.ts';
import type { Result } from '../kernel/index.ts';

/** The files we hold, by content. On disk in production, in memory when simulated. */
export interface Spool extends MediaSource {
  /** Streams bytes in; checked (not empty, at most `maxBytes`, magic number against `expect`), hashed, synced, then renamed into place. */
  store(
    chunks: AsyncIterable<Uint8Array>,
    options: {
      readonly nameHint: string;
      readonly maxBytes: number;
      readonly expect?: 'image' | 'video' | 'file';
      readonly expectedBytes?: number;
    },
    signal: AbortSignal,
  ): Promise<Result<Artifact, Failure>>;
  /**
   * A fresh stream of a part of the bytes. Where `memory` is given (of at least `length`), the bytes may be read into it one
   * after the other, and the pieces then be views of it: who moves much spares the making and collecting of buffers.
   */
  open(artifact: Artifact, offset: number, length: number, memory?: Uint8Array): AsyncIterable<Uint8Array>;
  has(hash: string): Promise<boolean>;
  remove(hash: string): Promise<void>;
  /** Bytes held in all. */
  sizeBytes(): Promise<number>;
}
