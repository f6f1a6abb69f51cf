import { z } from 'zod';
import { type Clock, ok } from '../kernel/index.ts';
import type { Call } from './caller.ts';
import type { FeishuResult } from './client.ts';
import { readData } from './failure.ts';
import type { TokenSource } from './token-source.ts';

export interface BaseInfo {
  readonly name: string;
  /** 高级权限: downloads need a permission, and a search may come back empty without one. */
  readonly hasAdvancedPermissions: boolean;
  readonly timeZone?: string;
}

/** What only setting up and checking asks the platform; daily work never does. */
export interface FeishuInspection {
  /** Fetches a token (or uses the one that is there): the credentials are right. */
  checkCredentials(signal?: AbortSignal): Promise<FeishuResult<void>>;
  /** The app's own open id: the operator of its own edits. Fails where the bot ability is off. */
  botInfo(signal?: AbortSignal): Promise<FeishuResult<{ readonly openId: string; readonly name: string }>>;
  baseInfo(appToken: string, signal?: AbortSignal): Promise<FeishuResult<BaseInfo>>;
  /** Whether the base's record events are subscribed. */
  isBaseSubscribed(appToken: string, signal?: AbortSignal): Promise<FeishuResult<boolean>>;
  /** Platform time minus ours, from the last answer that carried a date (whole seconds); undefined before one. */
  clockSkewMs(): number | undefined;
}

const appSchema = z.looseObject({
  app: z.looseObject({
    name: z.string().nullish(),
    is_advanced: z.boolean().nullish(),
    time_zone: z.string().nullish(),
  }),
});
/** Beside `code`, not under `data`. */
const botSchema = z.looseObject({
  bot: z.looseObject({ open_id: z.string().catch(''), app_name: z.string().catch('') }).optional(),
});

export function createInspection(call: Call, tokens: TokenSource, skew: SkewMeter): FeishuInspection {
  return {
    checkCredentials: async (signal) => {
      const token = await tokens.get(signal);
      return token.ok ? ok(undefined) : token;
    },
    botInfo: async (signal) => {
      const answer = await call('bot.info', { signal });
      if (!answer.ok) return answer;
      const bot = botSchema.safeParse(answer.value.body).data?.bot;
      return ok({ openId: bot?.open_id ?? '', name: bot?.app_name ?? '' });
    },
    baseInfo: async (appToken, signal) => {
      const answer = await call('bitable.app', { path: { app_token: appToken }, signal });
      if (!answer.ok) return answer;
      const data = readData('bitable.app', appSchema, answer.value.body);
      if (!data.ok) return data;
      const { name, is_advanced: isAdvanced, time_zone: timeZone } = data.value.app;
      return ok({
        name: name ?? '',
        hasAdvancedPermissions: isAdvanced ?? false,
        ...(typeof timeZone === 'string' ? { timeZone } : {}),
      });
    },
    isBaseSubscribed: async (appToken, signal) => {
      const request = { path: { file_token: appToken }, query: { file_type: 'bitable' }, signal };
      const answer = await call('drive.get-subscribe', request);
      if (!answer.ok) return answer;
      const data = readData('drive.get-subscribe', z.looseObject({ is_subscribe: z.boolean() }), answer.value.body);
      return data.ok ? ok(data.value.is_subscribe) : data;
    },
    clockSkewMs: () => skew.skewMs(),
  };
}

export interface SkewMeter {
  note(headers: Headers): void;
  skewMs(): number | undefined;
}

export function createSkewMeter(clock: Clock): SkewMeter {
  let skewMs: number | undefined;
  return {
    note: (headers) => {
      const theirsMs = Date.parse(headers.get('date') ?? '');
      if (Number.isFinite(theirsMs)) skewMs = theirsMs - clock.nowMs();
    },
    skewMs: () => skewMs,
  };
}
