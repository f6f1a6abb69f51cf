import { z } from 'zod';
import { addEndpoint, jsonResponse } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';

const pushSchema = z.object({
  token: z.string(),
  content: z.string(),
  title: z.string().optional(),
  channel: z.string().optional(),
});

const maxTitleChars = 100;
const maxContentChars = 20_000;

/** What a dead man's switch elsewhere would be. */
export function addHeartbeatApi(world: World): void {
  for (const method of ['GET', 'POST'] as const) {
    addEndpoint(world, { name: 'heartbeat', method, path: '/heartbeat', handle: () => new Response('ok') });
  }
}

/** 200 means accepted, no more; a bad token is 903. */
export function addPushplusApi(world: World): void {
  addEndpoint(world, {
    name: 'pushplus.send',
    method: 'POST',
    path: '/pushplus/send',
    latency: 'vendorMs',
    handle: (call) => {
      const parsed = pushSchema.safeParse(call.json());
      if (!parsed.success) return jsonResponse({ code: 999, msg: '参数校验错误', data: null });
      const { token, content, title = '', channel = 'wechat' } = parsed.data;
      if (token === '' || token.includes('bad')) return jsonResponse({ code: 903, msg: '无效的用户token', data: null });
      if (title.length > maxTitleChars || content.length > maxContentChars) {
        return jsonResponse({ code: 999, msg: '标题或内容过长', data: null });
      }
      world.journal.pushes.push({ title, content, channel, atMs: world.clock.nowMs() });
      return jsonResponse({ code: 200, msg: '请求成功', data: newToken(world, '', 32).toLowerCase() });
    },
  });
}
