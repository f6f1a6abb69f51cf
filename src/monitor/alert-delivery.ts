import { type Clock, deadline, type Logger } from '../kernel/index.ts';
import type { AlertChannel, ChannelVerdict } from './alert.ts';
import type { AlertState, QueuedMessage } from './alert-state.ts';

export interface DeliveryDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly channels: readonly AlertChannel[];
  readonly state: () => AlertState;
  /** A delivery changed: store it, and look when the next is due. */
  readonly onChange: () => Promise<void>;
}

/** Waits between the tries of one channel for one message; after the last it counts as failed. */
const retryDelaysMs = [60_000, 300_000, 900_000];
/** A channel that answers nothing for so long has failed; it has shorter limits of its own. */
const sendLimitMs = 45_000;

/**
 * Sends what waits, each channel by itself: one that hangs or fails holds up no other. Within a channel the order stays.
 */
export function createDelivery(deps: DeliveryDeps): { run(): Promise<void> } {
  const running = new Map<string, Promise<void>>();
  const runChannel = async (channel: AlertChannel): Promise<void> => {
    for (const message of [...deps.state().messages]) {
      const delivery = message.deliveries[channel.name];
      if (delivery?.state !== 'pending' || delivery.nextAt > deps.clock.nowMs()) continue;
      record(deps, channel, delivery, await sendGuarded(deps.clock, channel, message));
      await deps.onChange();
    }
  };
  return {
    run: async () => {
      const all = deps.channels.map((channel) => {
        const before = running.get(channel.name);
        if (before !== undefined) return before;
        const now = runChannel(channel)
          .catch((error: unknown) => {
            deps.logger.error('alert delivery failed', { channel: channel.name, error: String(error) });
          })
          .finally(() => running.delete(channel.name));
        running.set(channel.name, now);
        return now;
      });
      await Promise.all(all);
    },
  };
}

type Delivery = QueuedMessage['deliveries'][string];

function record(deps: DeliveryDeps, channel: AlertChannel, delivery: Delivery, verdict: ChannelVerdict): void {
  const nowMs = deps.clock.nowMs();
  switch (verdict.kind) {
    case 'sent':
      delivery.state = 'sent';
      delivery.reason = '';
      return;
    case 'off':
      delivery.state = 'off';
      delivery.reason = verdict.reason;
      return;
    case 'later':
      delivery.nextAt = Math.max(verdict.atMs, nowMs + 1_000);
      delivery.reason = verdict.reason;
      return;
    case 'failed': {
      const delayMs = retryDelaysMs[delivery.tries];
      delivery.tries += 1;
      delivery.reason = verdict.reason;
      if (delayMs === undefined) delivery.state = 'failed';
      else delivery.nextAt = nowMs + delayMs;
      deps.logger.warn('alert not delivered', { channel: channel.name, reason: verdict.reason });
    }
  }
}

/** A channel must neither throw nor hang; one that does has failed. */
async function sendGuarded(clock: Clock, channel: AlertChannel, message: QueuedMessage): Promise<ChannelVerdict> {
  const limit = deadline(clock, sendLimitMs);
  const expired = new Promise<ChannelVerdict>((resolve) => {
    const failed = { kind: 'failed', reason: '通道没有答复' } as const;
    limit.signal.addEventListener('abort', () => resolve(failed), { once: true });
  });
  try {
    return await Promise.race([channel.send(message), expired]);
  } catch (error) {
    return { kind: 'failed', reason: `通道出错（${error instanceof Error ? error.name : 'error'}）` };
  } finally {
    limit.release();
  }
}

/** When the next delivery is due; undefined when none waits. A channel that is configured no more waits for nothing. */
export function nextDeliveryAt(state: AlertState, channels: readonly AlertChannel[]): number | undefined {
  const times = state.messages.flatMap((message) =>
    channels
      .map((channel) => message.deliveries[channel.name])
      .filter((delivery) => delivery?.state === 'pending')
      .map((delivery) => delivery?.nextAt ?? 0),
  );
  return times.length === 0 ? undefined : Math.min(...times);
}
