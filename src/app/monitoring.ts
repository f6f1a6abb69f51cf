import type { LoadedConfig } from '../config/index.ts';
import type { Provider } from '../contract/index.ts';
import type { Engine } from '../engine/ports/index.ts';
import type { FeishuClient } from '../feishu/index.ts';
import {
  type Alerter,
  type BalancePatrol,
  type Calendar,
  createAlerter,
  createBalancePatrol,
  createCalendar,
  createDailySummary,
  createDiskWatch,
  createEventAlerts,
  createGroupChannel,
  createMetrics,
  createPushplusChannel,
  createRedactor,
  type DailySummary,
  type EventAlerts,
  type Metrics,
} from '../monitor/index.ts';
import type { Ports } from './ports.ts';
import { secretsOf } from './secrets-of.ts';

/** Everything that watches: it reads the event log and the ledger, and can never hurt the work. */
export interface Monitoring {
  readonly alerter: Alerter;
  readonly metrics: Metrics | undefined;
  readonly patrol: BalancePatrol;
  readonly summary: DailySummary;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** When this process started, when its loop last went through, and how late its timers come. */
export interface Life {
  readonly startedAt: number;
  lastTickAt: number | null;
  lagMs: () => number;
}

export interface MonitoringDeps {
  readonly config: LoadedConfig;
  readonly ports: Ports;
  readonly engine: Engine;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly feishu: FeishuClient | undefined;
  readonly life: Readonly<Life>;
  /** Calls this month as the budget counts them. */
  readonly feishuCalls: () => { readonly thisMonth: number; readonly monthlyBudget: number };
}

export function createMonitoring(deps: MonitoringDeps): Monitoring {
  const { config, ports } = deps;
  const { store, clock, ids, logger, fetch } = ports;
  const calendar = createCalendar(config.environment.timezone);
  const { pushplus, alertChatId } = config.environment;
  const channels = [
    ...(pushplus === undefined ? [] : [createPushplusChannel({ store, clock, logger, fetch, calendar, ...pushplus })]),
    ...(deps.feishu === undefined || alertChatId === undefined
      ? []
      : [createGroupChannel({ feishu: deps.feishu, clock, chatId: alertChatId })]),
  ];
  // An alert may carry the words of an error that nobody foresaw; it leaves the house and stands on the page.
  const redactor = createRedactor(secretsOf(config));
  const clean = (text: string): string => redactor.text(text);
  const { cooldown: cooldownMs } = config.settings.alerts;
  const alerter = createAlerter({ store, clock, ids, logger, channels, cooldownMs, clean });
  const eventAlerts: EventAlerts = createEventAlerts({ store, clock, logger, alerter });
  const patrol = createBalancePatrol({
    store,
    clock,
    logger,
    alerter,
    providers: () => deps.providers,
    settings: config.settings,
    vendorOf: (account) => config.definitions.providers.get(account)?.vendor ?? account,
    isExclusive: (account) => config.definitions.providers.get(account)?.exclusive === true,
  });
  const disk = createDiskWatch({
    ...ports,
    alerter,
    minFreeBytes: config.settings.storage.min_free,
  });
  const metrics = openMetrics(deps, calendar, createInputs(deps, { alerter, patrol, disk }));
  const summary = createDailySummary({
    store,
    clock,
    logger,
    alerter,
    calendar,
    cron: config.settings.alerts.daily_summary,
    balances: () => patrol.view(),
  });
  return {
    alerter,
    metrics,
    patrol,
    summary,
    start: async () => {
      alerter.start();
      eventAlerts.start();
      metrics?.start();
      patrol.start();
      disk.start();
      await summary.catchUp();
    },
    stop: async () => {
      patrol.stop();
      disk.stop();
      eventAlerts.stop();
      await metrics?.stop();
      await alerter.stop(5_000);
    },
  };
}

function openMetrics(
  { config, ports }: MonitoringDeps,
  calendar: Calendar,
  inputs: Parameters<typeof createMetrics>[0]['inputs'],
): Metrics | undefined {
  const { store, clock, logger, monitorFiles } = ports;
  if (monitorFiles === undefined) return undefined;
  return createMetrics({
    store,
    clock,
    logger,
    calendar,
    files: monitorFiles,
    inputs,
    isConfirmPoint: (agent, stage) => isConfirmPoint(config, agent, stage),
  });
}

function createInputs(
  deps: MonitoringDeps,
  watches: {
    readonly alerter: Alerter;
    readonly patrol: BalancePatrol;
    readonly disk: ReturnType<typeof createDiskWatch>;
  },
) {
  const { config, ports, engine, life } = deps;
  const { alerter, patrol, disk } = watches;
  return () => {
    const freeBytes = disk.freeBytes();
    const waiting: Record<string, number> = {};
    for (const { reason } of engine.activity().waiting) waiting[reason] = (waiting[reason] ?? 0) + 1;
    const calls = deps.feishuCalls();
    return {
      mode: config.environment.mode,
      intervalMs: config.settings.poll.interval,
      workers: [{ id: ports.owner, startedAt: life.startedAt, lastTickAt: life.lastTickAt }],
      feishu:
        deps.feishu === undefined
          ? undefined
          : {
              plan: config.settings.feishu.plan,
              callsThisMonth: calls.thisMonth,
              monthlyBudget: calls.monthlyBudget,
              isConnected: ports.wakeSource?.isAlive() ?? false,
              lastEventAt: ports.wakeSource?.lastEventAtMs() ?? null,
            },
      balances: patrol.view(),
      alerter,
      waiting,
      isPaused: engine.isPaused(),
      lagMs: life.lagMs(),
      disk: freeBytes === undefined ? undefined : { freeBytes, minFreeBytes: config.settings.storage.min_free },
    };
  };
}

function isConfirmPoint(config: LoadedConfig, agent: string, stage: string): boolean {
  const confirm = config.definitions.agents.get(agent)?.stages.find((each) => each.stage === stage)?.confirm;
  return typeof confirm === 'object' ? config.environment.switches[confirm.setting] === true : confirm === true;
}
