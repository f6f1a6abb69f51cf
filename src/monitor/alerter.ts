import type { Store } from '../engine/ports/index.ts';
import { type Clock, deadline, type IdSource, type Logger } from '../kernel/index.ts';
import type { AlertChannel, Alerter, AlertView } from './alert.ts';
import { createDelivery, nextDeliveryAt } from './alert-delivery.ts';
import { foldAlert, nextSweepAt, type Outgoing, shorten, sweep } from './alert-fold.ts';
import { alertStateSchema, createStoredState, emptyAlertState, type QueuedMessage } from './alert-state.ts';

export interface AlerterDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly channels: readonly AlertChannel[];
  /** `alerts.cooldown`. */
  readonly cooldownMs: number;
  /** Strikes secrets out of titles and texts before they are stored or sent (the logger's redactor). */
  readonly clean?: (text: string) => string;
}

const mostMessages = 100;
/** Characters that are kept of a title and a text; the state stays small whatever a source says. */
const mostTitle = 120;
const mostText = 6_000;
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
  let cancelTimer: (() => void) | undefined;
  let isRunning = false;
  let isSaveDue = false;

  const clean = deps.clean ?? ((text: string): string => text);
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
  const delivery = createDelivery({
    ...deps,
    state: () => state,
    onChange: async () => {
      await stored.save(state);
      arm();
    },
  });
  const deliver = async (): Promise<void> => {
    await delivery.run();
    arm();
  };
  const arm = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (!isRunning) return;
    const nextAt = earliest(nextSweepAt(state, deps.cooldownMs), nextDeliveryAt(state, deps.channels));
    if (nextAt === undefined) return;
    const delayMs = Math.min(longestTimerMs, Math.max(10, nextAt - deps.clock.nowMs()));
    cancelTimer = deps.clock.after(delayMs, () => void guard('timer', settle));
  };

  return {
    alert: (raw) =>
      guard('alert', async () => {
        const input = { ...raw, title: shorten(clean(raw.title), mostTitle), text: shorten(clean(raw.text), mostText) };
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
          { title: clean(end.title), text: clean(end.text), severity: 'info' },
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
