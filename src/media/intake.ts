import type { Artifact, Failure } from '../contract/index.ts';
import { safeFileName } from './file-name.ts';
import { type FileType, sniffBytes, sniffType } from './sniff.ts';

export interface IntakeOptions {
  readonly nameHint: string;
  readonly maxBytes: number;
  readonly expect?: 'image' | 'video' | 'file';
  readonly expectedBytes?: number;
}

/** Watches bytes on their way in: counts, keeps the head; tells as early as possible that they are not wanted. */
export interface Intake {
  /** Undefined while all is well. */
  take(chunk: Uint8Array): Failure | undefined;
  /** What is wrong with the bytes, once all have been taken; undefined: nothing. */
  fault(): Failure | undefined;
  /** The artifact that they are, where nothing is wrong; `hash`: SHA-256 in hex. */
  artifact(hash: string): Artifact;
}

export function createIntake(options: IntakeOptions): Intake {
  let head: Uint8Array = new Uint8Array(0);
  let sizeBytes = 0;
  let isTypeChecked = false;
  return {
    take: (chunk) => {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > options.maxBytes) return tooLarge(options.maxBytes);
      if (head.byteLength < sniffBytes) head = Buffer.concat([head, chunk.subarray(0, sniffBytes - head.byteLength)]);
      if (isTypeChecked || head.byteLength < sniffBytes) return undefined;
      isTypeChecked = true;
      return typeFailure(sniffType(head, options.nameHint), options.expect);
    },
    fault: () => {
      if (sizeBytes === 0) return contentFailure('empty', 'the file is empty');
      if (options.expectedBytes !== undefined && sizeBytes !== options.expectedBytes) {
        return contentFailure('short', `${sizeBytes} bytes instead of ${options.expectedBytes}`);
      }
      return typeFailure(sniffType(head, options.nameHint), options.expect);
    },
    artifact: (hash) => {
      const fileType = sniffType(head, options.nameHint);
      return {
        kind: 'artifact',
        hash,
        sizeBytes,
        mime: fileType?.mime ?? 'application/octet-stream',
        name: safeFileName(options.nameHint, fileType?.extension ?? 'bin', hash.slice(0, 8)),
      };
    },
  };
}

function typeFailure(found: FileType | undefined, expect: IntakeOptions['expect']): Failure | undefined {
  if (expect === undefined || expect === 'file' || found?.media === expect) return undefined;
  return contentFailure('type', `expected ${expect}, but the bytes are ${found?.mime ?? 'of no known type'}`);
}

/** Bad content is a fault of the transfer: what was bought stays bought. */
function contentFailure(code: string, message: string): Failure {
  return { kind: 'transfer', code: `content.${code}`, message };
}

function tooLarge(maxBytes: number): Failure {
  return contentFailure('too-large', `larger than transfer.max_bytes (${maxBytes} bytes)`);
}

/** A disk that will not take (or give) bytes. */
export function storageFailure(error: unknown): Failure {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'STORAGE';
  return { kind: 'storage', code, message: error instanceof Error ? error.message : String(error) };
}
