/**
 * A multipart form with one file, built in one piece of memory. The SDK's upload helpers lose error codes, axios sends a
 * buffer without a file name, and FormData needs a turn of the event loop that the simulation does not give: so we write the
 * bytes ourselves.
 *
 * The file's bytes are read straight into their place; the text before them is written afterwards, backwards from there,
 * since its checksum is only known then. One form serves all parts of an upload, one after the other.
 */
export interface FormBuffer {
  /** Where the file's bytes belong. */
  readonly file: Uint8Array;
  /** The whole form around the first `fileBytes` bytes of `file`. Valid until the next call. */
  seal(
    fields: Readonly<Record<string, string | number>>,
    fileName: string,
    fileBytes: number,
  ): { readonly contentType: string; readonly content: Uint8Array };
}

/** Room for the fields: two names of 250 characters at three bytes, and the rest. */
const headRoomBytes = 8 * 1024;
const tailRoomBytes = 256;

export function createFormBuffer(maxFileBytes: number, boundary: string): FormBuffer {
  const memory = new Uint8Array(headRoomBytes + maxFileBytes + tailRoomBytes);
  const encoder = new TextEncoder();
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  return {
    file: memory.subarray(headRoomBytes, headRoomBytes + maxFileBytes),
    seal: (fields, fileName, fileBytes) => {
      const lines = Object.entries(fields).map(
        ([name, value]) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
      );
      const head = encoder.encode(
        `${lines.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\n` +
          'Content-Type: application/octet-stream\r\n\r\n',
      );
      if (head.length > headRoomBytes)
        throw new Error(`form fields take ${head.length} bytes, more than there is room for`);
      const start = headRoomBytes - head.length;
      const end = headRoomBytes + fileBytes;
      memory.set(head, start);
      memory.set(tail, end);
      return {
        contentType: `multipart/form-data; boundary=${boundary}`,
        content: memory.subarray(start, end + tail.length),
      };
    },
  };
}
