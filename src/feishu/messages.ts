import { fail, ok } from '../kernel/index.ts';
import type { Call } from './caller.ts';
import type { FeishuClient } from './client.ts';
import { localFailure } from './failure.ts';

/** Platform limits: the id that makes a repeat harmless, and the body of a text message (150 KB, kept a little below). */
const maxUuidChars = 50;
const maxTextBytes = 140 * 1024;

export function createMessageCalls(call: Call): Pick<FeishuClient, 'sendText' | 'subscribeBase'> {
  return {
    sendText: async (to, text, uuid, signal) => {
      if (uuid === '' || uuid.length > maxUuidChars) {
        return fail(localFailure('invalid', `a message's uuid has 1 to ${maxUuidChars} characters`));
      }
      if (new TextEncoder().encode(text).byteLength > maxTextBytes) {
        return fail(localFailure('too-large', `a message holds at most ${maxTextBytes} bytes of text`));
      }
      const [type, receiver] = 'chatId' in to ? ['chat_id', to.chatId] : ['open_id', to.openId];
      const answer = await call('im.message', {
        query: { receive_id_type: type },
        json: { receive_id: receiver, msg_type: 'text', content: JSON.stringify({ text }), uuid },
        signal,
      });
      return answer.ok ? ok(undefined) : answer;
    },
    subscribeBase: async (appToken, signal) => {
      const request = { path: { file_token: appToken }, query: { file_type: 'bitable' }, signal };
      const answer = await call('drive.subscribe', request);
      return answer.ok ? ok(undefined) : answer;
    },
  };
}
