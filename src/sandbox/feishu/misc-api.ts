import { z } from 'zod';
import { type Call, jsonResponse, parseJson } from '../endpoint.ts';
import { botPerson, newToken, type World } from '../world.ts';
import { type FeishuGate, param, requireJson } from './gate.ts';
import { Refusal, success } from './refusal.ts';

const messageSchema = z.object({
  receive_id: z.string(),
  msg_type: z.string(),
  content: z.string(),
  uuid: z.string().max(50).optional(),
});
const dedupeMs = 3_600_000;
const maxTextBytes = 150 * 1024;

/** Wiki nodes, event subscription and messages. */
export function addMiscApi(world: World, gate: FeishuGate): void {
  gate.add({
    name: 'feishu.wiki.getNode',
    method: 'GET',
    path: '/feishu/open-apis/wiki/v2/spaces/get_node',
    latency: 'feishuReadMs',
    perSecond: 50,
    handle: (call) => {
      const token = call.url.searchParams.get('token') ?? '';
      const base = Object.values(world.state.bases).find((candidate) => candidate.wikiToken === token);
      if (base === undefined) throw new Refusal(131005, 'not found: node', 404);
      return success({
        node: { space_id: '1', node_token: token, obj_token: base.appToken, obj_type: 'bitable', title: base.name },
      });
    },
  });
  gate.add({
    name: 'feishu.file.subscribe',
    method: 'POST',
    path: '/feishu/open-apis/drive/v1/files/:file_token/subscribe',
    latency: 'feishuReadMs',
    perSecond: 50,
    handle: (call) => {
      if (call.url.searchParams.get('file_type') !== 'bitable') throw new Refusal(1069602, 'param error');
      const base = world.state.bases[param(call, 'file_token')];
      if (base === undefined) throw new Refusal(1069604, 'document not found', 404);
      if (base.appRole !== 'manager') throw new Refusal(1069603, 'forbidden', 403);
      base.subscribed = true;
      return success({});
    },
  });
  gate.add({
    name: 'feishu.file.getSubscribe',
    method: 'GET',
    path: '/feishu/open-apis/drive/v1/files/:file_token/get_subscribe',
    latency: 'feishuReadMs',
    perSecond: 50,
    handle: (call) => {
      const base = world.state.bases[param(call, 'file_token')];
      if (base === undefined) throw new Refusal(1069604, 'document not found', 404);
      return success({ is_subscribe: base.subscribed });
    },
  });
  gate.add({
    name: 'feishu.bot.info',
    method: 'GET',
    path: '/feishu/open-apis/bot/v3/info',
    latency: 'feishuReadMs',
    perSecond: 50,
    handle: () => {
      const bot = { activate_status: 2, app_name: botPerson.name, avatar_url: '', open_id: botPerson.openId };
      return jsonResponse({ code: 0, msg: 'ok', bot: { ...bot, ip_white_list: [] } });
    },
  });
  gate.add({
    name: 'feishu.im.create',
    method: 'POST',
    path: '/feishu/open-apis/im/v1/messages',
    latency: 'feishuReadMs',
    perSecond: 5,
    handle: (call) => sendMessage(world, call),
  });
}

function sendMessage(world: World, call: Call): Response {
  const idType = call.url.searchParams.get('receive_id_type') ?? '';
  const parsed = messageSchema.safeParse(requireJson(call));
  if (!parsed.success) throw new Refusal(230001, 'Your request contains an invalid request parameter.');
  const message = parsed.data;
  if (parseJson(message.content) === undefined) throw new Refusal(230001, 'content is not a JSON string');
  if (new TextEncoder().encode(message.content).length > maxTextBytes) throw new Refusal(230025, 'message too long');
  checkReceiver(world, idType, message.receive_id);
  const nowMs = world.clock.nowMs();
  const earlier = world.journal.messages.find(
    (sent) => message.uuid !== undefined && sent.uuid === message.uuid && nowMs - sent.atMs < dedupeMs,
  );
  const messageId = earlier?.messageId ?? newToken(world, 'om_', 32).toLowerCase();
  if (earlier === undefined) {
    world.journal.messages.push({
      messageId,
      receiveIdType: idType,
      receiveId: message.receive_id,
      msgType: message.msg_type,
      content: message.content,
      ...(message.uuid === undefined ? {} : { uuid: message.uuid }),
      atMs: nowMs,
    });
  }
  return success({ message_id: messageId, msg_type: message.msg_type, create_time: String(nowMs) });
}

function checkReceiver(world: World, idType: string, id: string): void {
  if (idType === 'chat_id') {
    if (!id.startsWith('oc_')) throw new Refusal(230001, 'invalid receive_id');
    if (id.includes('outside')) throw new Refusal(230002, 'Bot/User can NOT be out of the chat.');
    return;
  }
  if (idType !== 'open_id') throw new Refusal(230001, 'unsupported receive_id_type');
  if (!world.people.some((person) => person.openId === id)) throw new Refusal(99992351, 'not a valid open_id');
}
