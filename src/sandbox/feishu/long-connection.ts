import { z } from 'zod';
import { randomInt } from '../../kernel/index.ts';
import { addEndpoint, jsonResponse } from '../endpoint.ts';
import { newToken, type RecordChange, type World } from '../world.ts';
import { decodeFrame, encodeFrame, type Frame } from './frame.ts';

/** The far end of one websocket, as the app's server holds it. */
interface LinkPeer {
  send(bytes: Uint8Array): void;
  close(): void;
}

/**
 * The platform's side of the long connection, without sockets: the app (or a test) accepts websockets at `path`, hands each
 * over here, and passes on its binary messages. Events of subscribed bases go to one connection, picked at random; an event
 * without an ack comes again after 15 s, 5 min, 1 h and 6 h; so does, now and then, one that was acked.
 */
export interface LongConnectionDoor {
  readonly path: string;
  accept(peer: LinkPeer): { receive(bytes: Uint8Array): void; closed(): void };
  connections(): number;
  /** No pong and no event from now on, with the links left open; `false` ends the silence. */
  setSilent(isSilent: boolean): void;
  /** Events travel in so many frames; default 1. */
  setParts(parts: number): void;
  /** Sends the last event once more, as the platform may at any time. */
  repeatLast(): void;
  /** Breaks every link. */
  breakLinks(): void;
}

const redeliverAfterMs = [15_000, 300_000, 3_600_000, 21_600_000] as const;
/** Frames that come together with the upgrade are lost by the SDK. */
const firstFrameAfterMs = 200;
const serviceId = 1;
const credentialSchema = z.object({ AppID: z.string(), AppSecret: z.string() });

interface Outgoing {
  readonly messageId: string;
  readonly payload: Uint8Array;
  isAcked: boolean;
}

interface Links {
  readonly ready: Set<LinkPeer>;
  readonly all: Set<LinkPeer>;
  readonly waiting: Map<string, Outgoing>;
  last: Outgoing | undefined;
  isSilent: boolean;
  parts: number;
}

export function createLongConnectionDoor(world: World): LongConnectionDoor {
  const links: Links = {
    ready: new Set(),
    all: new Set(),
    waiting: new Map(),
    last: undefined,
    isSilent: false,
    parts: 1,
  };
  addStartEndpoint(world);
  const onChange = (change: RecordChange): void => {
    if (world.state.bases[change.appToken]?.subscribed !== true) return;
    const messageId = newToken(world, 'msg_', 24);
    const payload = new TextEncoder().encode(JSON.stringify(eventOf(world, change)));
    const outgoing = { messageId, payload, isAcked: false };
    links.last = outgoing;
    links.waiting.set(messageId, outgoing);
    deliver(world, links, outgoing, 0);
  };
  return {
    path: '/feishu/ws',
    accept: (peer) => {
      if (links.all.size === 0) world.changeListeners.add(onChange);
      links.all.add(peer);
      const cancel = world.clock.after(firstFrameAfterMs, () => {
        links.ready.add(peer);
      });
      return {
        receive: (bytes) => {
          receive(links, peer, bytes);
        },
        closed: () => {
          cancel();
          links.all.delete(peer);
          links.ready.delete(peer);
          if (links.all.size === 0) world.changeListeners.delete(onChange);
        },
      };
    },
    connections: () => links.all.size,
    setSilent: (isSilent) => {
      links.isSilent = isSilent;
    },
    setParts: (parts) => {
      links.parts = parts;
    },
    repeatLast: () => {
      if (links.last !== undefined) sendEvent(world, links, links.last);
    },
    breakLinks: () => {
      for (const peer of [...links.all]) peer.close();
    },
  };
}

/** The request that tells where to dial. */
function addStartEndpoint(world: World): void {
  addEndpoint(world, {
    name: 'feishu.ws.endpoint',
    method: 'POST',
    path: '/feishu/callback/ws/endpoint',
    latency: 'feishuReadMs',
    handle: (call) => {
      const parsed = credentialSchema.safeParse(call.json());
      const { appId, appSecret } = world.credentials;
      if (!parsed.success || parsed.data.AppID !== appId || parsed.data.AppSecret !== appSecret) {
        return jsonResponse({ code: 514, msg: 'auth failed', data: {} });
      }
      const device = newToken(world, '', 16);
      const address = world.baseUrl().replace(/^http/, 'ws');
      return jsonResponse({
        code: 0,
        msg: '',
        data: {
          URL: `${address}/feishu/ws?device_id=${device}&service_id=${serviceId}`,
          ClientConfig: { PingInterval: 120, ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30 },
        },
      });
    },
  });
}

function receive(links: Links, peer: LinkPeer, bytes: Uint8Array): void {
  const frame = decodeFrame(bytes);
  if (frame === undefined || links.isSilent) return;
  if (frame.method === 0 && frame.headers['type'] === 'ping') {
    peer.send(encodeFrame({ service: frame.service, method: 0, headers: { type: 'pong' } }));
    return;
  }
  const outgoing = links.waiting.get(frame.headers['message_id'] ?? '');
  if (outgoing === undefined || !isGoodAck(frame)) return;
  outgoing.isAcked = true;
  links.waiting.delete(outgoing.messageId);
}

function isGoodAck(frame: Frame): boolean {
  const text = new TextDecoder().decode(frame.payload ?? new Uint8Array(0));
  return /"code"\s*:\s*200/.test(text);
}

function deliver(world: World, links: Links, outgoing: Outgoing, round: number): void {
  sendEvent(world, links, outgoing);
  const nextMs = redeliverAfterMs[round];
  if (nextMs === undefined) return;
  world.clock.after(nextMs, () => {
    if (!outgoing.isAcked) deliver(world, links, outgoing, round + 1);
  });
}

function sendEvent(world: World, links: Links, outgoing: Outgoing): void {
  const peers = [...links.ready];
  const peer = peers[randomInt(world.random, Math.max(1, peers.length))];
  if (peer === undefined || links.isSilent) return;
  const { payload, messageId } = outgoing;
  const size = Math.ceil(payload.length / links.parts);
  for (let seq = 0; seq < links.parts; seq += 1) {
    const headers = { type: 'event', message_id: messageId, sum: `${links.parts}`, seq: `${seq}`, trace_id: messageId };
    const part = payload.subarray(seq * size, (seq + 1) * size);
    peer.send(encodeFrame({ service: serviceId, method: 1, headers, payload: part }));
  }
}

/** The event as the platform words it: field ids, values as JSON text, the operator by open id. */
function eventOf(world: World, change: RecordChange): unknown {
  const side = (pick: 'before' | 'after'): unknown[] =>
    change.fields
      .filter((field) => field[pick] !== undefined)
      .map((field) => ({ field_id: field.fieldId, field_value: JSON.stringify(field[pick]) }));
  return {
    schema: '2.0',
    header: {
      event_id: change.eventId,
      event_type: 'drive.file.bitable_record_changed_v1',
      create_time: String(change.atMs),
      token: '',
      app_id: world.credentials.appId,
      tenant_key: 'sandbox',
    },
    event: {
      file_type: 'bitable',
      file_token: change.appToken,
      table_id: change.tableId,
      revision: change.revision,
      operator_id: { open_id: change.operatorId, union_id: '', user_id: '' },
      action_list: [
        { record_id: change.recordId, action: change.action, before_value: side('before'), after_value: side('after') },
      ],
      subscriber_id_list: [],
      update_time: Math.floor(change.atMs / 1000),
    },
  };
}
