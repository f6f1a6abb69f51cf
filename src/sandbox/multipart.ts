import { indexOfBytes } from './bytes.ts';

interface FormFile {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly mime: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Form {
  readonly fields: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, FormFile>;
}

const crlfcrlf = new TextEncoder().encode('\r\n\r\n');

/**
 * Reads `multipart/form-data` from bytes: the platform's own parser needs a macrotask, which the simulator forbids. A part
 * counts as a file when it has a file name, or a content type, or is called `file`.
 */
export function parseMultipart(contentType: string | null, body: Uint8Array<ArrayBuffer>): Form | undefined {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType ?? '')?.[1];
  if (boundary === undefined) return undefined;
  const mark = new TextEncoder().encode(`--${boundary}`);
  const fields = new Map<string, string>();
  const files = new Map<string, FormFile>();
  for (let at = indexOfBytes(body, mark, 0); at >= 0; ) {
    const next = indexOfBytes(body, mark, at + mark.length);
    if (next < 0) break;
    const part = readPart(body.subarray(at + mark.length + 2, next - 2));
    if (part?.isFile === true) files.set(part.file.name, part.file);
    else if (part !== undefined) fields.set(part.file.name, new TextDecoder().decode(part.file.bytes));
    at = next;
  }
  return { fields, files };
}

function readPart(part: Uint8Array<ArrayBuffer>): { isFile: boolean; file: FormFile } | undefined {
  const split = indexOfBytes(part, crlfcrlf, 0);
  if (split < 0) return undefined;
  const head = new TextDecoder().decode(part.subarray(0, split));
  const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
  if (name === undefined) return undefined;
  const fileName = /;\s*filename="([^"]*)"/i.exec(head)?.[1];
  const mime = /^content-type:\s*(\S+)/im.exec(head)?.[1];
  const file = { name, fileName, mime, bytes: part.subarray(split + crlfcrlf.length) };
  return { isFile: fileName !== undefined || name === 'file', file };
}
