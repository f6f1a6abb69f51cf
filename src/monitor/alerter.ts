import type { Store } from '../engine/ports/index.ts';
import { type Clock, deadline, type IdSource, type Logger } from '../kernel/index.ts';
import type { AlertChannel, Alerter, AlertView, ChannelVerdict } from './alert.ts';
import { foldAlert, nextSweepAt, type Outgoing, sweep } from './alert-fold.ts';
import {
  type AlertState,
  alertStateSchema,
  createStoredState,
  emptyAlertState,
  type QueuedMessage,
} from './alert-state.ts';

export interface AlerterDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly channels: readonly AlertChannel[];
  /** `alerts.cooldown`. */
  readonly cooldownMs: number;
}

/** Waits between the tries of one channel for one message; after the last it counts as failed. */
const retryDelaysMs = [60_000, 300_000, 900_000];
const mostMessages = 100;
const longestTimerMs = 60_000;
/** Counts of folded alerts are on disk so long after at most. */
const gatherMs = 1_000;

/**
 * Alerts: folded, kept across restarts, delivered by each channel on its own. The state is one store document; a message
 * is recorded before it is sent, so a crash between the two sends it once more at most (channels get a stable id).
 */
export function createAlerter(deps: AlerterDeps): Alerter {
  const stored = createStoredState(deps, 'alerts', alertStateSchema, emptyAlertState);
  let state = emptyAlertState();
  let loaded: Promise<void> | undefined;
  let delivering: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  let isRunning = false;
  let isSaveDue = false;

  const ready = (): Promise<void> =>
    (loaded ??= stored.load().then((value) => {
      state = value;
    }));
  const guard = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await ready();
      await work();
    } catch (error) {
      deps.logger.error('alert machinery failed', { what, error: String(error) });
    }
  };
  const enqueue = (outgoing: Outgoing): void => {
    state.messages.push(newMessage(deps, outgoing));
    state.messages = trimMessages(state.messages);
    deps.logger.info('alert', { title: outgoing.title, severity: outgoing.severity, count: outgoing.count });
  };
  const settle = async (): Promise<void> => {
    const due = sweep(state, deps.clock.nowMs(), deps.cooldownMs);
    if (due !== undefined) enqueue(due);
    isSaveDue = false;
    await stored.save(state);
    void deliver();
  };
  /** A folded alert only raises a count: many of them share one write. */
  const settleSoon = (): void => {
    if (isSaveDue) return;
    isSaveDue = true;
    deps.clock.after(gatherMs, () => {
      if (isSaveDue) void guard('count', settle);
    });
  };
  const deliver = (): Promise<void> => {
    delivering ??= deliverDue(deps, state)
      .then(async (changed) => {
        if (changed) await stored.save(state);
      })
      .catch((error: unknown) => {
        deps.logger.error('alert delivery failed', { error: String(error) });
      })
      .finally(() => {
        delivering = undefined;
        arm();
      });
    return delivering;
  };
  const arm = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (!isRunning) return;
    const nextAt = earliest(nextSweepAt(state, deps.cooldownMs), nextDeliveryAt(state));
    if (nextAt === undefined) return;
    const delayMs = Math.min(longestTimerMs, Math.max(10, nextAt - deps.clock.nowMs()));
    cancelTimer = deps.clock.after(delayMs, () => void guard('timer', settle));
  };

  return {
    alert: (input) =>
      guard('alert', async () => {
        const now = foldAlert(state, input, deps.clock.nowMs(), deps.cooldownMs);
        if (now !== undefined) enqueue(now);
        else if (input.severity !== 'fatal') {
          settleSoon();
          return;
        }
        await settle();
      }),
    recover: (end) =>
      guard('recover', async () => {
        if (state.raised[end.key] === undefined) return;
        state.raised = Object.fromEntries(Object.entries(state.raised).filter(([key]) => key !== end.key));
        const now = foldAlert(
          state,
          { title: end.title, text: end.text, severity: 'info' },
          deps.clock.nowMs(),
          deps.cooldownMs,
        );
        if (now !== undefined) enqueue(now);
        await settle();
      }),
    isRaised: async (key) => {
      await ready();
      return state.raised[key] !== undefined;
    },
    recent: () => [...state.messages].reverse().map(view),
    raised: () => Object.entries(state.raised).map(([key, entry]) => ({ key, ...entry })),
    channels: () => Object.fromEntries(deps.channels.map((channel) => [channel.name, channel.status()])),
    start: () => {
      isRunning = true;
      void guard('start', settle);
    },
    stop: async (limitMs) => {
      isRunning = false;
      cancelTimer?.();
      const limit = deadline(deps.clock, limitMs);
      await Promise.race([
        guard('stop', async () => {
          if (isSaveDue) await settle();
          await deliver();
        }),
        new Promise<void>((resolve) => limit.signal.addEventListener('abort', () => resolve(), { once: true })),
      ]);
      limit.release();
    },
  };
}

function newMessage(deps: AlerterDeps, outgoing: Outgoing): QueuedMessage {
  const at = deps.clock.nowMs();
  return {
    id: deps.ids.uuid(),
    ...outgoing,
    at,
    deliveries: Object.fromEntries(
      deps.channels.map((channel) => [channel.name, { state: 'pending', tries: 0, nextAt: at, reason: '' }]),
    ),
  };
}

/** Tries every delivery that is due, once; tells whether anything changed. */
async function deliverDue(deps: AlerterDeps, state: AlertState): Promise<boolean> {
  let changed = false;
  for (const channel of deps.channels) {
    for (const message of [...state.messages]) {
      const delivery = message.deliveries[channel.name];
      if (delivery?.state !== 'pending' || delivery.nextAt > deps.clock.nowMs()) continue;
      const verdict = await sendGuarded(channel, message);
      changed = true;
      switch (verdict.kind) {
        case 'sent':
          delivery.state = 'sent';
          delivery.reason = '';
          break;
        case 'off':
          delivery.state = 'off';
          delivery.reason = verdict.reason;
          break;
        case 'later':
          delivery.nextAt = Math.max(verdict.atMs, deps.clock.nowMs() + 1_000);
          delivery.reason = verdict.reason;
          break;
        case 'failed': {
          const delayMs = retryDelaysMs[delivery.tries];
          delivery.tries += 1;
          delivery.reason = verdict.reason;
          if (delayMs === undefined) delivery.state = 'failed';
          else delivery.nextAt = deps.clock.nowMs() + delayMs;
          deps.logger.warn('alert not delivered', { channel: channel.name, reason: verdict.reason });
          break;
        }
      }
    }
  }
  return changed;
}

/** A channel must not throw; one that does has failed. */
async function sendGuarded(channel: AlertChannel, message: QueuedMessage): Promise<ChannelVerdict> {
  try {
    return await channel.send(message);
  } catch (error) {
    return { kind: 'failed', reason: `通道出错（${error instanceof Error ? error.name : 'error'}）` };
  }
}

function nextDeliveryAt(state: AlertState): number | undefined {
  const times = state.messages.flatMap((message) =>
    Object.values(message.deliveries)
      .filter((delivery) => delivery.state === 'pending')
      .map((delivery) => delivery.nextAt),
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

function trimMessages(messages: readonly QueuedMessage[]): QueuedMessage[] {
  return messages.slice(-mostMessages);
}

function earliest(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined) return right;
  return right === undefined ? left : Math.min(left, right);
}

function view(message: QueuedMessage): AlertView {
  return {
    at: message.at,
    title: message.title,
    text: message.text,
    severity: message.severity,
    count: message.count,
    channels: Object.fromEntries(
      Object.entries(message.deliveries).map(([name, delivery]) => [
        name,
        delivery.reason === '' ? delivery.state : `${delivery.state}: ${delivery.reason}`,
      ]),
    ),
  };
}
