import { z } from 'zod';
import type { Settings } from '../contract/index.ts';
import {
  type Clock,
  type Fetch,
  fail,
  type IdSource,
  type Logger,
  ok,
  type Random,
  type Secret,
} from '../kernel/index.ts';
import { normaliseBaseUrl } from '../providers/http/index.ts';
import { createCaller } from './caller.ts';
import type { FeishuClient, FeishuResult } from './client.ts';
import { createDownload } from './download.ts';
import { localFailure } from './failure.ts';
import { createInspection, createSkewMeter, type FeishuInspection } from './inspection.ts';
import { createMediaGate } from './media-gate.ts';
import { createMessageCalls } from './messages.ts';
import type { QuotaGuard } from './quota-guard.ts';
import { createRecordCalls } from './records.ts';
import { loadSdk } from './sdk.ts';
import { createSdkLogger } from './sdk-logger.ts';
import { createTableCalls } from './tables.ts';
import { createTokenSource, type FetchedToken } from './token-source.ts';
import { createHttpInstance } from './transport.ts';
import { createUpload } from './upload.ts';
import type { UploadSessions } from './upload-sessions.ts';

export interface FeishuDeps {
  readonly appId: string;
  readonly appSecret: Secret;
  /** `https://open.feishu.cn`, Lark's, or another that speaks the same; trailing slashes are taken off. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: Pick<Settings, 'feishu' | 'timeouts'>;
  /** For Fetch: `direct` (default), `env`, or a proxy's URL. */
  readonly proxy?: string;
  /** From the call budget: nothing is sent once the platform has said that the month is used up. */
  readonly quota?: QuotaGuard;
  /** Remembers uploads in parts over a restart; without it they begin anew. */
  readonly uploadSessions?: UploadSessions;
}

/** The platform client over the official SDK's REST client; the room's door says what is ours and why. */
export function createFeishuClient(deps: FeishuDeps): FeishuClient & FeishuInspection {
  const { clock, random, settings } = deps;
  const sdk = loadSdk();
  const client = new sdk.Client({
    appId: deps.appId,
    appSecret: deps.appSecret.reveal(),
    domain: normaliseBaseUrl(deps.baseUrl, ['/open-apis']),
    httpInstance: createHttpInstance(deps.fetch, deps.proxy),
    logger: createSdkLogger(deps.logger, [deps.appSecret]),
    loggerLevel: sdk.LoggerLevel.warn,
    disableTokenCache: true,
  });
  let callCounts: Record<string, number> = {};
  const skew = createSkewMeter(clock);
  const gate = createMediaGate(clock, settings.feishu.media_calls_per_second);
  const call = createCaller({
    sdk,
    client,
    clock,
    random,
    gate,
    logger: deps.logger,
    timeouts: settings.timeouts,
    tokens: () => tokens,
    quota: deps.quota,
    onCall: (name) => {
      callCounts[name] = (callCounts[name] ?? 0) + 1;
    },
    onAnswer: (answer) => {
      skew.note(answer.headers);
    },
  });
  const tokens = createTokenSource(clock, async (): Promise<FeishuResult<FetchedToken>> => {
    const answer = await call('auth.token', { json: { app_id: deps.appId, app_secret: deps.appSecret.reveal() } });
    if (!answer.ok) return answer;
    const token = tokenAnswerSchema.safeParse(answer.value.body);
    if (!token.success) return fail(localFailure('retry', 'auth.token: the answer holds no token', 'unknown'));
    return ok({ token: token.data.tenant_access_token, expireS: token.data.expire });
  });
  return {
    ...createTableCalls(call, random),
    ...createRecordCalls(call, random),
    ...createMessageCalls(call),
    ...createInspection(call, tokens, skew),
    uploadMedia: createUpload({ call, gate, clock, ids: deps.ids, sessions: deps.uploadSessions }),
    downloadMedia: createDownload(call, clock, settings.timeouts.transfer_idle),
    takeCallCounts: () => {
      const taken = callCounts;
      callCounts = {};
      return taken;
    },
  };
}

/** Flat, without the usual `data`. */
const tokenAnswerSchema = z.looseObject({
  tenant_access_token: z.string().min(1),
  expire: z.number().catch(0),
});
