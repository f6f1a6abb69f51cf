/** Largest prime below 2^16, and how many bytes can be added before the second sum leaves 32 bits (RFC 1950). */
const modulus = 65_521;
const bytesPerReduction = 3_800;

/** Adler-32 of the bytes, as the unsigned number that Feishu wants (in decimal) for a part's checksum. */
export function adler32(bytes: Uint8Array): number {
  let low = 1;
  let high = 0;
  for (let start = 0; start < bytes.length; start += bytesPerReduction) {
    const end = Math.min(start + bytesPerReduction, bytes.length);
    for (let index = start; index < end; index += 1) {
      low += bytes[index] ?? 0;
      high += low;
    }
    low %= modulus;
    high %= modulus;
  }
  return high * 65_536 + low;
}
