import { crc32 } from 'node:zlib';

/** Any instant would do; the ZIP format counts from 1980 (APPNOTE 4.4.6), so its first day is 1, its first month 1. */
const fixedInstant = '1980-01-01T00:00:00Z';
const fixedDosTime = 0;
const fixedDosDate = (1 << 5) | 1;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

/**
 * The same slides are the same bytes, whenever they are written: a file is uploaded once by its hash, and what ran can be
 * run again to the byte. The slide library puts today's date into every ZIP entry and into `docProps/core.xml`.
 * Changes `bytes` in place; entries must be stored, not deflated, as the library does unless told otherwise.
 */
export function fixDates(bytes: Uint8Array): void {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = data.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  let at = data.readUInt32LE(end + 16);
  for (let left = data.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = data.readUInt16LE(at + 28);
    const local = data.readUInt32LE(at + 42);
    stamp(data, at + 12);
    stamp(data, local + 10);
    if (data.toString('utf8', at + 46, at + 46 + nameLength) === 'docProps/core.xml') fixProperties(data, at, local);
    at += 46 + nameLength + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
  }
}

function stamp(data: Buffer, at: number): void {
  data.writeUInt16LE(fixedDosTime, at);
  data.writeUInt16LE(fixedDosDate, at + 2);
}

/** As long as before, so that nothing moves; only the sums change. */
function fixProperties(data: Buffer, entry: number, local: number): void {
  const from = local + 30 + data.readUInt16LE(local + 26) + data.readUInt16LE(local + 28);
  const content = data.subarray(from, from + data.readUInt32LE(entry + 20));
  content.write(content.toString('latin1').replace(instant, fixedInstant), 'latin1');
  const sum = crc32(content);
  data.writeUInt32LE(sum, entry + 16);
  data.writeUInt32LE(sum, local + 14);
}
