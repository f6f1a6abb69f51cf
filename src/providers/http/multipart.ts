/** One part of a multipart/form-data body: a text field, or a file when it has a file name. */
export interface FormPart {
  readonly name: string;
  readonly value: string | Uint8Array;
  readonly fileName?: string;
  readonly contentType?: string;
}

/**
 * Encodes multipart/form-data into bytes ourselves: the platform's FormData needs a macrotask, which a virtual clock does
 * not grant, and a body of bytes can be sent again. `boundary` must be unique (a UUID); names are sent as UTF-8, only
 * quotes, backslashes and control characters are replaced.
 */
export function encodeMultipart(
  parts: readonly FormPart[],
  boundary: string,
): { readonly contentType: string; readonly bytes: Uint8Array } {
  const chunks: Uint8Array[] = [];
  for (const part of parts) {
    const file = part.fileName === undefined ? '' : `; filename="${quotable(part.fileName)}"`;
    const type = part.contentType === undefined ? '' : `\r\nContent-Type: ${part.contentType}`;
    chunks.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${quotable(part.name)}"${file}${type}\r\n\r\n`,
      ),
      typeof part.value === 'string' ? Buffer.from(part.value) : part.value,
      Buffer.from('\r\n'),
    );
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(chunks) };
}

function quotable(name: string): string {
  return name.replace(/["\\\u0000-\u001f\u007f]/g, '_');
}
