import { concatBytes } from '../bytes.ts';

/**
 * The frame of the long connection (protobuf 2, written by hand): 1 SeqID, 2 LogID, 3 service, 4 method (0 control, 1 data),
 * 5 headers {1 key, 2 value}, 8 payload. Facts: the SDK's pbbp2 schema.
 */
export interface Frame {
  readonly service: number;
  readonly method: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: Uint8Array;
}

const members = { seqId: 1, logId: 2, service: 3, method: 4, headers: 5, payload: 8 } as const;

export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const headers = Object.entries(frame.headers).map(([key, value]) =>
    lengthMember(members.headers, concatBytes([textMember(1, key), textMember(2, value)])),
  );
  return concatBytes([
    numberMember(members.seqId, 1),
    numberMember(members.logId, 1),
    numberMember(members.service, frame.service),
    numberMember(members.method, frame.method),
    ...headers,
    ...(frame.payload === undefined ? [] : [lengthMember(members.payload, frame.payload)]),
  ]);
}

/** Reads a frame; undefined for bytes that are none. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  const parts = readMembers(bytes);
  if (parts === undefined) return undefined;
  const numberOf = (id: number): number => {
    const value = parts.find((part) => part.id === id)?.value;
    return typeof value === 'number' ? value : 0;
  };
  const headers: [string, string][] = [];
  let payload: Uint8Array | undefined;
  for (const { id, value } of parts) {
    if (typeof value === 'number') continue;
    if (id === members.payload) payload = value;
    if (id === members.headers) {
      const [key, text] = (readMembers(value) ?? []).map((part) => textOf(part.value));
      headers.push([key ?? '', text ?? '']);
    }
  }
  return {
    service: numberOf(members.service),
    method: numberOf(members.method),
    // Whatever a key is called, `__proto__` among them.
    headers: Object.fromEntries(headers),
    ...(payload === undefined ? {} : { payload }),
  };
}

function textOf(value: number | Uint8Array): string {
  return typeof value === 'number' ? String(value) : new TextDecoder().decode(value);
}

function varint(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    out.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.from([...out, rest]);
}

function numberMember(id: number, value: number): Uint8Array {
  return concatBytes([varint(id << 3), varint(value)]);
}

function lengthMember(id: number, bytes: Uint8Array): Uint8Array {
  return concatBytes([varint((id << 3) | 2), varint(bytes.length), bytes]);
}

function textMember(id: number, text: string): Uint8Array {
  return lengthMember(id, new TextEncoder().encode(text));
}

function readMembers(bytes: Uint8Array): { id: number; value: number | Uint8Array }[] | undefined {
  const found: { id: number; value: number | Uint8Array }[] = [];
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const kind = tag & 7;
    if (Number.isNaN(tag) || (kind !== 0 && kind !== 2)) return undefined;
    const value = readVarint();
    if (Number.isNaN(value) || (kind === 2 && at + value > bytes.length)) return undefined;
    found.push({ id: tag >> 3, value: kind === 0 ? value : bytes.subarray(at, at + value) });
    if (kind === 2) at += value;
  }
  return found;
}
