import { z } from 'zod';
import { type Clock, deadline, type Fetch, type Logger, type Secret, TransportError } from '../kernel/index.ts';
import { normaliseBaseUrl } from '../providers/http/index.ts';
import type { WakeEvent, WakeSource } from './client.ts';
import { createRecentIds } from './recent-ids.ts';
import { parseRecordEvent, recordChangedEvent } from './record-event.ts';
import { loadSdk, type SdkHttpInstance, type SdkSocketClient } from './sdk.ts';
import { createSdkLogger } from './sdk-logger.ts';
import { createHttpInstance, Exchange, withExchange } from './transport.ts';

/**
 * The long connection: Feishu tells of edits over a socket that we open. It only wakes the tick, which stays the truth.
 *
 *   idle ── start ──▶ connecting ── up ──▶ connected ── silent or closed ──▶ reconnecting ── up ──▶ connected
 *                         └── refused for good, or tries used up ──▶ failed ── after `restartMs` ──▶ connecting
 *
 * Connecting, pinging and reconnecting are the SDK's (with its own timers and randomness; the server sets their rhythm).
 * Ours are: a watchdog on each ping, without which a link that has silently died stays "connected" for ever; a limit on
 * each handshake; a new start after the SDK has given up; each event once. `isAlive` is true in `connected` alone, so a
 * silent death is noticed at the latest one ping interval (the server's, 120 s) and `livenessMs` after it.
 *
 * What happened while the link was down is told by nobody: `onConnected` is the moment for one search.
 */
export interface LongConnectionDeps {
  readonly appId: string;
  readonly appSecret: Secret;
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For Fetch, as in FeishuDeps. */
  readonly proxy?: string;
  /** An `http.Agent` for the socket; without one it is dialled directly. */
  readonly agent?: unknown;
  /** The app's own open id (`botInfo`), once it is known. */
  readonly ownId?: () => string | undefined;
  /** The link is up, for the first time or again. */
  readonly onConnected?: () => void;
  /** No frame for so long after a ping: the link is dead. Default 10 s. */
  readonly livenessMs?: number;
  /** Pause before a new start when the SDK has given up. Default 5 min. */
  readonly restartMs?: number;
}

const handshakeMs = 15_000;
/** More than the platform can send again within its last redelivery (6 h) in a lively base. */
const rememberedEvents = 5_000;
/** The SDK starts nothing, and tells nobody, for an id of another shape. */
const appIdPattern = /^cli_[0-9a-fA-F]{16}$/;

export function createLongConnection(deps: LongConnectionDeps): WakeSource {
  const { clock, logger } = deps;
  const sdk = loadSdk();
  const sdkLogger = createSdkLogger(logger, [deps.appSecret]);
  const recent = createRecentIds(rememberedEvents);
  let client: SdkSocketClient | undefined;
  let cancelRestart = (): void => undefined;
  let lastEventAtMs: number | undefined;

  const up = (): void => {
    logger.info('long connection is up');
    guarded(logger, () => deps.onConnected?.());
  };
  const dispatcherFor = (onWake: (event: WakeEvent) => void): unknown =>
    new sdk.EventDispatcher({ logger: sdkLogger, loggerLevel: sdk.LoggerLevel.warn }).register({
      [recordChangedEvent]: (raw) => {
        const event = parseRecordEvent(raw, deps.ownId?.());
        if (event === undefined) logger.warn('record event could not be read');
        if (event === undefined || !recent.isNew(event.eventId)) return;
        lastEventAtMs = clock.nowMs();
        guarded(logger, () => {
          onWake(event);
        });
      },
    });

  const open = async (eventDispatcher: unknown): Promise<void> => {
    const current = new sdk.WSClient({
      appId: deps.appId,
      appSecret: deps.appSecret.reveal(),
      domain: normaliseBaseUrl(deps.baseUrl, ['/open-apis']),
      httpInstance: createStartDoor(deps),
      logger: sdkLogger,
      loggerLevel: sdk.LoggerLevel.warn,
      agent: deps.agent,
      handshakeTimeoutMs: handshakeMs,
      wsConfig: { pingTimeout: livenessOf(deps) / 1_000 },
      onReady: up,
      onReconnected: up,
      onReconnecting: () => {
        logger.warn('long connection is down; the tick searches at its full pace meanwhile');
      },
      onError: (error) => {
        const restartMs = deps.restartMs ?? 300_000;
        logger.error('long connection has failed', { detail: error.message, restartMs });
        cancelRestart = clock.after(restartMs, () => {
          current.close({ force: true });
          void open(eventDispatcher);
        });
      },
    });
    client = current;
    await current.start({ eventDispatcher });
  };

  return {
    start: async (onWake) => {
      if (client !== undefined) return;
      if (!appIdPattern.test(deps.appId)) {
        const advice =
          'an app id is "cli_" and 16 hexadecimal digits; without the long connection the tick alone finds work';
        logger.error('long connection cannot start', { appId: deps.appId, advice });
        return;
      }
      await open(dispatcherFor(onWake));
    },
    isAlive: () => client?.getConnectionStatus().state === 'connected',
    lastEventAtMs: () => lastEventAtMs,
    stop: () => {
      cancelRestart();
      client?.close({ force: true });
      client = undefined;
      return Promise.resolve();
    },
  };
}

/**
 * The request that asks for the socket's address, with a limit of its own, and two of the SDK's traps taken away. A refusal
 * whose `data` is null would make it trip and try for ever: it gets an empty one, so that the refusal is seen. And each ping
 * winds its watchdog up anew, so with a ping interval below the watchdog's time it would never strike: the interval is
 * raised above that.
 */
function createStartDoor(deps: LongConnectionDeps): SdkHttpInstance {
  const door = createHttpInstance(deps.fetch, deps.proxy);
  return {
    request: async (options) => {
      const limit = deadline(deps.clock, handshakeMs);
      const exchange = new Exchange({ signal: limit.signal, connectTimeoutMs: handshakeMs });
      try {
        const body = await door.request(withExchange(options, exchange));
        if (typeof body !== 'object' || body === null || !('code' in body)) {
          throw new TransportError('maybe-sent', 'ENOTJSON', `HTTP ${exchange.answer?.httpStatus ?? 0} without a code`);
        }
        return withSlowPings(body, 2 * livenessOf(deps));
      } finally {
        limit.release();
      }
    },
  };
}

function withSlowPings(body: object, leastMs: number): unknown {
  const parsed = startAnswerSchema.safeParse(body);
  if (!parsed.success) return { ...body, data: {} };
  const { data } = parsed.data;
  const PingInterval = Math.max(data.ClientConfig.PingInterval, leastMs / 1_000);
  return { ...parsed.data, data: { ...data, ClientConfig: { ...data.ClientConfig, PingInterval } } };
}

/** The platform's own spelling; the interval is in seconds. */
const startAnswerSchema = z.looseObject({
  data: z.looseObject({ URL: z.string(), ClientConfig: z.looseObject({ PingInterval: z.number() }) }),
});

function livenessOf(deps: LongConnectionDeps): number {
  return deps.livenessMs ?? 10_000;
}

/** An event handler that throws would make the platform send the event again and again. */
function guarded(logger: Logger, run: () => void): void {
  try {
    run();
  } catch (error) {
    logger.error('wake handler failed', { detail: error instanceof Error ? error.message : 'unknown' });
  }
}
