import { type Clock, formatDuration, sleep } from '../../kernel/index.ts';
import type { BudgetStatus } from '../call-budget.ts';
import type { FeishuClient, WakeSource } from '../client.ts';
import type { FeishuInspection } from '../inspection.ts';
import { type AppPlace, type Diagnosis, fault, faultOf, fine, hint } from './diagnosis.ts';

/** A minute is noticed; beyond five, signed requests are refused and days of budgets begin at the wrong time. */
const skewHintMs = 60_000;
const skewFaultMs = 300_000;

/** Our clock against the date that the platform's answers carry. To be called after any other check. */
export function checkClock(client: FeishuInspection): Diagnosis {
  const skewMs = client.clockSkewMs();
  if (skewMs === undefined)
    return hint('clock', 'no answer carried a date', 'run the doctor again when the platform answers');
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const what = `this machine's clock is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead'}`;
  const advice = 'switch on time synchronisation (timedatectl set-ntp true)';
  if (Math.abs(skewMs) > skewFaultMs) return fault('clock', what, advice);
  return Math.abs(skewMs) > skewHintMs
    ? hint('clock', what, advice)
    : fine('clock', 'the clock agrees with the platform');
}

export interface ProxyView {
  /** Host of FEISHU_BASE_URL. */
  readonly host: string;
  /** What the name resolves to here; empty when it does not. */
  readonly addresses: readonly string[];
  /** HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, as far as they are set. */
  readonly proxies: Readonly<Record<string, string | undefined>>;
}

/** Addresses that Clash and its like hand out in place of the real ones: the connection only works through them. */
const fakeRange = /^198\.(18|19)\./;
const privateRange = /^(0\.|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|::1$|f[cd])/i;

/** A proxy in the way, by its traces in name resolution and environment. Loopback hosts are tests. */
export function checkProxy(view: ProxyView): Diagnosis {
  const isLocal = view.host === 'localhost' || view.host.startsWith('127.');
  const names = Object.entries(view.proxies).flatMap(([name, value]) => ((value ?? '') === '' ? [] : [name]));
  if (view.addresses.length === 0 && !isLocal) {
    return fault('proxy', `${view.host} does not resolve`, 'check DNS and the network of this server');
  }
  if (view.addresses.some((address) => fakeRange.test(address))) {
    const advice = `add ${view.host} to fake-ip-filter and a DIRECT rule in Clash (or switch its enhanced mode off)`;
    return fault(
      'proxy',
      `${view.host} resolves to ${view.addresses.join(' ')}, a fake address of a local proxy`,
      advice,
    );
  }
  if (!isLocal && view.addresses.some((address) => privateRange.test(address))) {
    const advice = 'a proxy, VPN or hosts entry answers in the platform’s place; ask who runs this network';
    return hint('proxy', `${view.host} resolves to the private address ${view.addresses.join(' ')}`, advice);
  }
  if (names.length > 0) {
    return hint(
      'proxy',
      `${names.join(' ')} is set`,
      'the platform is called directly; unset it if calls fail elsewhere',
    );
  }
  return fine('proxy', 'no proxy in the way');
}

/** The month's calls against the budget. */
export function checkQuota(status: BudgetStatus): Diagnosis {
  const { used, budget, forecast, level, month } = status;
  if (level === 'gone') {
    return fault(
      'quota',
      `the platform says that the calls of ${month} are used up`,
      'wait for the 1st, or upgrade the plan',
    );
  }
  if (budget === undefined) return fine('quota', `${used} calls in ${month} (paid plan)`);
  const what = `${used} of ${budget} calls used in ${month}, forecast ${forecast}`;
  const advice = 'set feishu.wakeups: true, raise poll.interval, or set feishu.plan: paid where that is so';
  if (level === 'reached') return fault('quota', what, advice);
  return level === 'warning' || forecast > budget ? hint('quota', what, advice) : fine('quota', what);
}

/** Edits are told; subscribes where that is not so yet. Polling works without, so nothing here is a fault. */
export async function checkSubscription(
  client: FeishuClient & FeishuInspection,
  appToken: string,
  place: AppPlace,
  signal?: AbortSignal,
): Promise<Diagnosis> {
  const before = await client.isBaseSubscribed(appToken, signal);
  if (before.ok && before.value) return fine('subscription', 'the base’s edits are subscribed');
  const made = await client.subscribeBase(appToken, signal);
  if (made.ok) return fine('subscription', 'the base’s edits are subscribed now');
  const { what, advice } = faultOf('subscription', made.failure, place);
  return hint('subscription', `${what}; words are found by polling only`, advice);
}

/** Opens the long connection and waits until it is proven alive; leaves it open. */
export async function checkLongConnection(
  source: WakeSource,
  clock: Clock,
  limitMs = 15_000,
  signal?: AbortSignal,
): Promise<Diagnosis> {
  const stepMs = 250;
  await source.start(() => undefined);
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += stepMs) {
    if (source.isAlive()) return fine('long-connection', 'the long connection is up');
    await sleep(clock, stepMs, signal);
  }
  const advice =
    'choose 使用长连接接收事件 in the console while this program runs, release a version, and see that websockets may leave this network';
  return hint('long-connection', `not up within ${formatDuration(limitMs)}; words are found by polling only`, advice);
}

/** Sends one message to the group; the uuid keeps a repeat within the hour from sending a second. */
export async function checkMessage(
  client: FeishuClient,
  chatId: string,
  message: { readonly text: string; readonly uuid: string },
  place: AppPlace,
): Promise<Diagnosis> {
  const answer = await client.sendText({ chatId }, message.text, message.uuid);
  return answer.ok ? fine('message', 'the group can be written to') : faultOf('message', answer.failure, place);
}
