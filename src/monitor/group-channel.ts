import { type Clock, deadline } from '../kernel/index.ts';
import type { FeishuClient } from '../feishu/index.ts';
import type { AlertChannel } from './alert.ts';
import { shorten } from './alert-fold.ts';

const textChars = 4_000;
const requestLimitMs = 30_000;

const icons = { fatal: '🔴', error: '🟠', warning: '🟡', info: '🟢' } as const;

/** The operator's Feishu group (`ALERT_CHAT_ID`). The message's id is Feishu's `uuid`: a repeat within an hour is one message. */
export function createGroupChannel(deps: {
  readonly feishu: Pick<FeishuClient, 'sendText'>;
  readonly clock: Clock;
  readonly chatId: string;
}): AlertChannel {
  return {
    name: 'feishu-group',
    send: async (message) => {
      const limit = deadline(deps.clock, requestLimitMs);
      try {
        const text = `${icons[message.severity]} ${message.title}\n${shorten(message.text, textChars)}`;
        const sent = await deps.feishu.sendText({ chatId: deps.chatId }, text, message.id, limit.signal);
        if (sent.ok) return { kind: 'sent' };
        const { code, class: failureClass, retryAfterMs } = sent.failure;
        const reason = `飞书 ${code}`;
        if (failureClass === 'throttled')
          return { kind: 'later', atMs: deps.clock.nowMs() + (retryAfterMs ?? 60_000), reason };
        const isFinal = failureClass === 'permission' || failureClass === 'invalid' || failureClass === 'gone';
        return isFinal ? { kind: 'off', reason } : { kind: 'failed', reason };
      } catch (error) {
        return { kind: 'failed', reason: `飞书群消息未送达（${error instanceof Error ? error.name : 'error'}）` };
      } finally {
        limit.release();
      }
    },
    status: () => ({ configured: true }),
  };
}
