import { z } from 'zod';
import { addEndpoint, jsonResponse } from '../endpoint.ts';
import type { World } from '../world.ts';
import type { FeishuGate } from './gate.ts';

const credentialSchema = z.object({ app_id: z.string(), app_secret: z.string() });

/** The tenant token: its answer is flat, without `data`. */
export function addAuthApi(world: World, gate: FeishuGate): void {
  addEndpoint(world, {
    name: 'feishu.token',
    method: 'POST',
    path: '/feishu/open-apis/auth/v3/tenant_access_token/internal',
    latency: 'feishuReadMs',
    handle: (call) => {
      const parsed = credentialSchema.safeParse(call.json());
      if (!parsed.success || parsed.data.app_id !== world.credentials.appId) {
        return jsonResponse({ code: 10003, msg: 'invalid app_id' });
      }
      if (parsed.data.app_secret !== world.credentials.appSecret) {
        return jsonResponse({ code: 10014, msg: 'app secret invalid' });
      }
      const { token, expireS } = gate.issueToken();
      return jsonResponse({ code: 0, msg: 'ok', tenant_access_token: token, expire: expireS });
    },
  });
}
