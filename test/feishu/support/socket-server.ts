import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { decodeFrame, encodeFrame, type WireFrame } from './wire.ts';

/**
 * The platform's long connection on loopback: the start request, a websocket (RFC 6455, as much as is needed), frames. It
 * can split an event, send it twice, fall silent without closing, break the link, and refuse to start.
 */
export interface SocketServer {
  readonly baseUrl: string;
  readonly starts: { readonly body: unknown; readonly headers: Readonly<Record<string, unknown>> }[];
  readonly received: WireFrame[];
  /** Answers to start requests, used up in order; then the normal one. */
  readonly startAnswers: unknown[];
  readonly connections: () => number;
  /** Waits (at most 10 s) until `name` has happened `count` times since the server's beginning. */
  readonly happened: (name: 'connected' | 'ping' | 'ack' | 'start', count?: number) => Promise<void>;
  readonly sendEvent: (event: unknown, options?: { readonly parts?: number; readonly messageId?: string }) => void;
  /** No pong from now on; the link stays open. */
  readonly fallSilent: () => void;
  /** The TCP link breaks. */
  readonly breakLink: () => void;
  readonly close: () => Promise<void>;
}

export async function startSocketServer(pingIntervalS = 0.05): Promise<SocketServer> {
  const bus = new EventEmitter();
  const counts: Record<string, number> = {};
  const starts: SocketServer['starts'] = [];
  const received: WireFrame[] = [];
  const startAnswers: unknown[] = [];
  const sockets = new Set<Duplex>();
  let current: Duplex | undefined;
  let isSilent = false;
  let address = '';
  const note = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
    bus.emit('step');
  };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      starts.push({ body: JSON.parse(Buffer.concat(chunks).toString() || '{}'), headers: request.headers });
      note('start');
      const config = { PingInterval: pingIntervalS, ReconnectCount: -1, ReconnectInterval: 0.05, ReconnectNonce: 0 };
      const normal = {
        code: 0,
        msg: '',
        data: { URL: `ws://${address}/ws?device_id=d1&service_id=7`, ClientConfig: config },
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(startAnswers.shift() ?? normal));
    });
  });
  server.on('upgrade', (request, socket: Duplex) => {
    const key = String(request.headers['sec-websocket-key']);
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    sockets.add(socket);
    current = socket;
    isSilent = false;
    socket.on('end', () => socket.end());
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    note('connected');
    readMessages(socket, (data) => {
      const frame = decodeFrame(data);
      received.push(frame);
      if (frame.headers['type'] === 'ping') {
        if (!isSilent) socket.write(message(encodeFrame({ service: 7, method: 0, headers: { type: 'pong' } })));
        note('ping');
      } else {
        note('ack');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  address = `127.0.0.1:${port}`;
  let serial = 0;
  return {
    baseUrl: `http://${address}`,
    starts,
    received,
    startAnswers,
    connections: () => sockets.size,
    happened: async (name, count = 1) => {
      const signal = AbortSignal.timeout(10_000);
      while ((counts[name] ?? 0) < count) await once(bus, 'step', { signal });
    },
    sendEvent: (event, options = {}) => {
      const payload = Buffer.from(JSON.stringify(event));
      const parts = options.parts ?? 1;
      const messageId = options.messageId ?? `message-${serial++}`;
      const size = Math.ceil(payload.length / parts);
      for (let seq = 0; seq < parts; seq += 1) {
        const headers = { type: 'event', message_id: messageId, sum: `${parts}`, seq: `${seq}`, trace_id: 'trace' };
        const frame = { service: 7, method: 1, headers, payload: payload.subarray(seq * size, (seq + 1) * size) };
        current?.write(message(encodeFrame(frame)));
      }
    },
    fallSilent: () => {
      isSilent = true;
    },
    breakLink: () => current?.destroy(),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** One unmasked binary message, as a server sends it. */
function message(data: Buffer): Buffer {
  const head = data.length < 126 ? Buffer.from([0x82, data.length]) : Buffer.from([0x82, 126, 0, 0]);
  if (data.length >= 126) head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, data]);
}

/** Masked binary messages, as a client sends them; control frames of the websocket itself are passed over. */
function readMessages(socket: Duplex, take: (data: Buffer) => void): void {
  let kept = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]);
    for (;;) {
      if (kept.length < 2) return;
      const short = (kept[1] ?? 0) & 0x7f;
      const headBytes = short === 126 ? 4 : 2;
      const length = short === 126 ? kept.readUInt16BE(2) : short;
      const end = headBytes + 4 + length;
      if (kept.length < end) return;
      const mask = kept.subarray(headBytes, headBytes + 4);
      const data = Buffer.from(kept.subarray(headBytes + 4, end)).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
      const opcode = (kept[0] ?? 0) & 0x0f;
      kept = kept.subarray(end);
      if (opcode === 2) take(Buffer.from(data));
    }
  });
}
