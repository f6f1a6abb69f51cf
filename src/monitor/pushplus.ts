import { z } from 'zod';
import type { Store } from '../engine/ports/index.ts';
import { type Clock, deadline, type Fetch, type Logger, type Secret } from '../kernel/index.ts';
import type { AlertChannel, AlertMessage, ChannelVerdict } from './alert.ts';
import { shorten } from './alert-fold.ts';
import { createStoredState } from './alert-state.ts';
import type { Calendar } from './calendar.ts';

/** Limits of pushplus for a verified user (facts: its own guide, help/limit). Failed requests count too. */
const perMinute = 5;
const equalPerHour = 3;
const perDay = 200;
/** Kept for fatal alerts: the others stop here. */
const perDayOrdinary = 180;
const titleChars = 100;
const contentChars = 18_000;
const requestLimitMs = 15_000;

const stateSchema = z.object({
  day: z.string(),
  sentToday: z.number(),
  /** Times of the last requests, for the limit of a minute. */
  recent: z.array(z.number()),
  /** Content fingerprint → times within the last hour. */
  equal: z.record(z.string(), z.array(z.number())),
  /** 900: stopped until this day is over. */
  stoppedOn: z.string(),
  /** 903: the token (by fingerprint) that must never be used again. */
  badToken: z.string(),
});
type PushplusState = z.infer<typeof stateSchema>;

export interface PushplusDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch: Fetch;
  readonly calendar: Calendar;
  /** Without a token the channel is silent. */
  readonly token?: Secret;
  /** `PUSHPLUS_BASE_URL`; the message goes to `/send` below it. */
  readonly baseUrl: string;
}

/**
 * The pushplus channel. HTTP 200 proves nothing there: the body's `code` decides. 900 stops the channel for the day, 903
 * for as long as the token is the same, because repeating a bad token gets the address banned for good.
 */
export function createPushplusChannel(deps: PushplusDeps): AlertChannel {
  const stored = createStoredState<PushplusState>(deps, 'pushplus', stateSchema, emptyState);
  let state: PushplusState | undefined;
  const send = async (message: AlertMessage): Promise<ChannelVerdict> => {
    const token = deps.token?.reveal() ?? '';
    if (token === '') return { kind: 'off', reason: '未配置' };
    state ??= await stored.load();
    const nowMs = deps.clock.nowMs();
    const today = deps.calendar.dayOf(nowMs);
    if (state.day !== today) Object.assign(state, { day: today, sentToday: 0 });
    const content = shorten(message.text, contentChars);
    const refusal = limitVerdict(state, deps, message, content, token);
    if (refusal !== undefined) return refusal;
    noteRequest(state, nowMs, contentKey(message.title, content));
    await stored.save(state);
    const verdict = await post(deps, token, message, content, state, today);
    await stored.save(state);
    return verdict;
  };
  return {
    name: 'pushplus',
    send,
    status: () => ({
      configured: deps.token !== undefined && deps.token.reveal() !== '',
      sentToday: state?.sentToday ?? 0,
      limitPerDay: perDay,
      stopped: state !== undefined && (state.stoppedOn === state.day || state.badToken !== ''),
    }),
  };
}

const emptyState = (): PushplusState => ({
  day: '',
  sentToday: 0,
  recent: [],
  equal: {},
  stoppedOn: '',
  badToken: '',
});

function limitVerdict(
  state: PushplusState,
  deps: PushplusDeps,
  message: AlertMessage,
  content: string,
  token: string,
): ChannelVerdict | undefined {
  const nowMs = deps.clock.nowMs();
  const tomorrow = deps.calendar.startOfDay(deps.calendar.addDays(state.day, 1));
  if (state.badToken === fingerprint(token)) return { kind: 'off', reason: 'pushplus 903：token 无效，请更换' };
  if (state.stoppedOn === state.day)
    return { kind: 'later', atMs: tomorrow, reason: 'pushplus 900：账号受限，今天停发' };
  const most = message.severity === 'fatal' ? perDay : perDayOrdinary;
  if (state.sentToday >= most) return { kind: 'later', atMs: tomorrow, reason: `今日已达 ${most} 条` };
  state.recent = state.recent.filter((at) => nowMs - at < 60_000);
  const oldest = state.recent[0];
  if (state.recent.length >= perMinute && oldest !== undefined)
    return { kind: 'later', atMs: oldest + 60_000, reason: '每分钟 5 条' };
  const equal = (state.equal[contentKey(message.title, content)] ?? []).filter((at) => nowMs - at < 3_600_000);
  const firstEqual = equal[0];
  if (equal.length >= equalPerHour && firstEqual !== undefined)
    return { kind: 'later', atMs: firstEqual + 3_600_000, reason: '相同内容每小时 3 条' };
  return undefined;
}

function noteRequest(state: PushplusState, nowMs: number, key: string): void {
  state.sentToday += 1;
  state.recent.push(nowMs);
  state.equal = Object.fromEntries(
    Object.entries({ ...state.equal, [key]: [...(state.equal[key] ?? []), nowMs] })
      .map(([name, times]) => [name, times.filter((at) => nowMs - at < 3_600_000)] as const)
      .filter(([, times]) => times.length > 0),
  );
}

const answerSchema = z.object({ code: z.number(), msg: z.string().nullish() });

async function post(
  deps: PushplusDeps,
  token: string,
  message: AlertMessage,
  content: string,
  state: PushplusState,
  today: string,
): Promise<ChannelVerdict> {
  const limit = deadline(deps.clock, requestLimitMs);
  try {
    const response = await deps.fetch(`${deps.baseUrl.replace(/\/$/, '')}/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, title: shorten(message.title, titleChars), content, template: 'txt' }),
      signal: limit.signal,
      proxy: 'env',
    });
    const parsed = answerSchema.safeParse(await readJson(response));
    if (!parsed.success) return { kind: 'failed', reason: `pushplus HTTP ${response.status}，答复无法识别` };
    const { code, msg } = parsed.data;
    if (code === 200) return { kind: 'sent' };
    // Its words stand on the page and in the log, and some services repeat what they were sent.
    const reason = `pushplus ${code}：${shorten((msg ?? '').replaceAll(token, '[secret]'), 80)}`;
    if (code === 900) state.stoppedOn = today;
    if (code === 903) state.badToken = fingerprint(token);
    return code === 903 ? { kind: 'off', reason } : { kind: 'failed', reason };
  } catch (error) {
    return { kind: 'failed', reason: `pushplus 无法连接（${error instanceof Error ? error.name : 'error'}）` };
  } finally {
    limit.release();
  }
}

/** An answer has some hundred bytes; more than this is none. */
const maxAnswerBytes = 64 * 1024;

async function readJson(response: Response): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for await (const piece of response.body ?? []) {
      sizeBytes += piece.byteLength;
      if (sizeBytes > maxAnswerBytes) return undefined;
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch {
    return undefined;
  }
}

const contentKey = (title: string, content: string): string => fingerprint(`${title}\n${content}`);

/** FNV-1a over code units: enough to tell equal texts apart, and it gives nothing of a token away. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return `${hash.toString(16)}-${text.length}`;
}
