/** The platform's socket frame (protobuf 2), written and read by hand, independently of the SDK's own code. */
export interface WireFrame {
  readonly service: number;
  /** 0 control, 1 data. */
  readonly method: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: Uint8Array;
}

const field = { seqId: 1, logId: 2, service: 3, method: 4, headers: 5, payload: 8 } as const;

export function encodeFrame(frame: WireFrame): Buffer {
  const parts: Buffer[] = [
    number(field.seqId, 1),
    number(field.logId, 1),
    number(field.service, frame.service),
    number(field.method, frame.method),
  ];
  for (const [key, value] of Object.entries(frame.headers)) {
    parts.push(bytes(field.headers, Buffer.concat([bytes(1, Buffer.from(key)), bytes(2, Buffer.from(value))])));
  }
  if (frame.payload !== undefined) parts.push(bytes(field.payload, Buffer.from(frame.payload)));
  return Buffer.concat(parts);
}

export function decodeFrame(data: Buffer): WireFrame {
  const headers: Record<string, string> = {};
  let service = 0;
  let method = 0;
  let payload: Uint8Array | undefined;
  for (const entry of entries(data)) {
    if (entry.id === field.service) service = Number(entry.value);
    if (entry.id === field.method) method = Number(entry.value);
    if (entry.id === field.payload && Buffer.isBuffer(entry.value)) payload = entry.value;
    if (entry.id === field.headers && Buffer.isBuffer(entry.value)) {
      const [key, value] = entries(entry.value).map((part) => String(part.value));
      headers[key ?? ''] = value ?? '';
    }
  }
  return { service, method, headers, ...(payload === undefined ? {} : { payload }) };
}

function number(id: number, value: number): Buffer {
  return Buffer.concat([varint(id << 3), varint(value)]);
}

function bytes(id: number, value: Buffer): Buffer {
  return Buffer.concat([varint((id << 3) | 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    out.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
  return Buffer.from(out);
}

function entries(data: Buffer): { id: number; value: number | Buffer }[] {
  const found: { id: number; value: number | Buffer }[] = [];
  let at = 0;
  const read = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = data[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < data.length) {
    const tag = read();
    if ((tag & 7) === 2) {
      const length = read();
      found.push({ id: tag >> 3, value: data.subarray(at, at + length) });
      at += length;
    } else {
      found.push({ id: tag >> 3, value: read() });
    }
  }
  return found;
}
