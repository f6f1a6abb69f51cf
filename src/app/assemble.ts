import { type AgentTable, createCallCountStore } from '../bitable/index.ts';
import type { LoadedConfig } from '../config/index.ts';
import type { Provider } from '../contract/index.ts';
import { createEngine, type SharedEngine } from '../engine/index.ts';
import type { Collector } from '../engine/ports/index.ts';
import {
  type CallBudget,
  createCallBudget,
  createFeishuClient,
  type FeishuClient,
  type FeishuFailure,
  type FeishuInspection,
  type WakeEvent,
} from '../feishu/index.ts';
import { createFunctions } from '../functions/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { createCollector } from '../media/index.ts';
import { providerFactories } from '../providers/index.ts';
import { createMonitoring, type Life, type Monitoring } from './monitoring.ts';
import type { Ports } from './ports.ts';
import { houseKnowledge } from './house-knowledge.ts';
import { createTables } from './house-tables.ts';
import { leaseMonitoring } from './scale-duties.ts';
import { shareFiles, withOrigins } from './scale-files.ts';
import type { HouseTables } from './scale-tables.ts';
import { createUploadSessions } from './upload-sessions.ts';

/** The house, built and not yet living. Whoever built it calls `start`, then `tick` again and again, then `stop`. */
export interface House {
  readonly config: LoadedConfig;
  readonly ports: Ports;
  readonly engine: SharedEngine;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly feishu: Platform | undefined;
  readonly tables: HouseTables | undefined;
  readonly monitoring: Monitoring;
  /** Refused, in words, when a table's columns do not fit: then nothing has been started. */
  start(): Promise<Result<void, readonly string[]>>;
  /** One turn of the main loop. Never rejects: what goes wrong is logged and alerted. */
  tick(): Promise<void>;
  /** Where the event loop's lag is read for the metrics; nothing measures it under virtual time. */
  measureLagBy(read: () => number): void;
  stop(drainMs: number): Promise<void>;
}

type Platform = FeishuClient & FeishuInspection;
type ProviderPorts = Pick<Ports, 'fetch' | 'clock' | 'ids' | 'logger' | 'spool'>;

/** Wires every room from ports alone, so that production and simulation run the same house. */
export async function assemble(config: LoadedConfig, outer: Ports): Promise<Result<House, FeishuFailure>> {
  const ports = shareFiles(outer, () => ({
    collector: createHouseCollector(config, ports, providers),
    feishu,
    bases: agents.ok ? [...new Set(agents.value.map(({ table }) => table.appToken))] : [],
  }));
  const providers = createProviders(config, ports);
  const knowledge = houseKnowledge(config, ports, () => feishu);
  const engine = createHouseEngine(config, { ...ports, knowledge }, providers);
  const callBudget = await openCallBudget(config, ports);
  const feishu = createPlatform(config, ports, callBudget);
  const agents = feishu === undefined ? ok([]) : await resolveTables(config, feishu);
  if (!agents.ok) return agents;
  const tables =
    feishu === undefined || agents.value.length === 0
      ? undefined
      : createTables({ config, ports, engine, feishu, callBudget, agents: agents.value });
  const life: Life = { startedAt: ports.clock.nowMs(), lastTickAt: null, lagMs: () => 0 };
  const watch = (): Monitoring =>
    createMonitoring({
      config,
      ports,
      engine,
      providers,
      feishu,
      life,
      feishuCalls: () =>
        tables?.callsThisMonth() ?? { thisMonth: 0, monthlyBudget: config.settings.feishu.monthly_call_budget },
    });
  const { scale } = ports;
  const monitoring = scale === undefined ? watch() : leaseMonitoring({ ...ports, scale }, watch);
  return ok(live({ config, ports, engine, providers, feishu, tables, monitoring }, life));
}

function live(parts: Omit<House, 'start' | 'tick' | 'stop' | 'measureLagBy'>, life: Life): House {
  const { engine, tables, monitoring, ports } = parts;
  return {
    ...parts,
    start: async () => {
      const fit = await tables?.start();
      if (fit?.ok === false) return fail(fit.failure.map((fault) => `${fault.problem}；${fault.remedy}`));
      await monitoring.start();
      await engine.start();
      await ports.scale?.startDispatching(engine);
      if (tables !== undefined) await startWakeUps(parts, tables);
      return ok(undefined);
    },
    tick: async () => {
      try {
        await tables?.tick();
      } catch (error) {
        ports.logger.error('main loop failed', { error: String(error) });
        await monitoring.alerter.alert({
          title: '主循环异常',
          text: `${String(error)}；程序会在下一轮继续，反复出现请查看日志。`,
          severity: 'fatal',
        });
      }
      life.lastTickAt = ports.clock.nowMs();
    },
    measureLagBy: (read) => {
      life.lagMs = read;
    },
    stop: async (drainMs) => {
      await ports.wakeSource?.stop();
      await tables?.stop();
      await engine.stop(drainMs);
      await monitoring.stop();
    },
  };
}

/** The long connection is a convenience: whatever keeps it from coming up is logged, and polling goes on. */
async function startWakeUps(
  { ports, feishu, config }: Pick<House, 'ports' | 'feishu' | 'config'>,
  tables: HouseTables,
): Promise<void> {
  if (ports.wakeSource === undefined || feishu === undefined) return;
  for (const { base } of config.environment.tables.values()) {
    if (base.kind !== 'base') continue;
    const subscribed = await feishu.subscribeBase(base.appToken);
    if (!subscribed.ok)
      ports.logger.warn('events of a base could not be subscribed, polling goes on', { code: subscribed.failure.code });
  }
  // Its own edits are told as well; where the bot ability is off they cannot be known, and cost a look.
  const bot = await feishu.botInfo();
  const ownId = bot.ok && bot.value.openId !== '' ? bot.value.openId : undefined;
  const mark = (event: WakeEvent): WakeEvent =>
    ownId === undefined || event.operatorId === undefined ? event : { ...event, isOwn: event.operatorId === ownId };
  await ports.wakeSource.start((event) => tables.wake(mark(event)));
}

/** Adapters for every account that has a key. */
export function createProviders(config: LoadedConfig, ports: ProviderPorts): ReadonlyMap<string, Provider> {
  const { timeouts } = config.settings;
  const providers = new Map<string, Provider>();
  for (const { id, definition, account } of config.activeProviders) {
    const factory = providerFactories[definition.vendor];
    if (factory === undefined)
      throw new Error(`provider "${id}": vendor "${definition.vendor}" passed the checks but is unknown`);
    providers.set(
      id,
      factory({
        account,
        fetch: ports.fetch,
        clock: ports.clock,
        ids: ports.ids,
        logger: ports.logger.child({ provider: id }),
        media: ports.spool,
        timeouts: {
          connectMs: timeouts.connect,
          submitMs: timeouts.submit,
          queryMs: timeouts.query,
          textMs: timeouts.text,
        },
      }),
    );
  }
  return providers;
}

/** Everything that an engine is given, from ports and configuration. */
export function createHouseEngine(
  config: LoadedConfig,
  ports: Ports,
  providers: ReadonlyMap<string, Provider>,
): SharedEngine {
  return createEngine({
    ...ports,
    settings: config.settings,
    definitions: () => config.definitions,
    providers,
    functions: createFunctions({
      redLines: config.redLines,
      pictures: ports.pictures,
      media: ports.spool,
      knowledge: ports.knowledge,
      aiLabel: config.settings.media.ai_label,
    }),
    collector: createHouseCollector(config, ports, providers),
    timeZone: config.environment.timezone,
  });
}

/** Moves results into the spool, with a fresh address from the vendor where the first one is refused. */
export function createHouseCollector(
  config: LoadedConfig,
  ports: Ports,
  providers: ReadonlyMap<string, Provider>,
): Collector {
  const { transfer, timeouts } = config.settings;
  const collector = createCollector({
    fetch: ports.fetch,
    spool: ports.spool,
    clock: ports.clock,
    logger: ports.logger,
    settings: {
      attempts: transfer.attempts,
      delayMs: transfer.delay,
      idleMs: timeouts.transfer_idle,
      connectMs: timeouts.connect,
      maxBytes: transfer.max_bytes,
    },
    freshLink: async (url, signal) => await freshLink(providers, url, signal),
  });
  return ports.scale === undefined ? collector : withOrigins(collector, ports);
}

/** The first vendor that knows the address as its own gives a fresh one. */
async function freshLink(
  providers: ReadonlyMap<string, Provider>,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const provider of providers.values()) {
    const fresh = await provider.freshLink?.(url, signal);
    if (fresh !== undefined) return fresh;
  }
  return undefined;
}

/** The month's calls, read back before the first is made. */
export async function openCallBudget({ settings }: LoadedConfig, { clock, store }: Ports): Promise<CallBudget> {
  const budget = createCallBudget({
    clock,
    store: createCallCountStore(store, clock),
    plan: settings.feishu.plan,
    monthlyBudget: settings.feishu.monthly_call_budget,
  });
  await budget.load();
  return budget;
}

export function createPlatform(config: LoadedConfig, ports: Ports, callBudget: CallBudget): Platform | undefined {
  const { feishu, noProxyForApi } = config.environment;
  if (feishu === undefined) return undefined;
  return createFeishuClient({
    ...feishu,
    ...ports,
    settings: config.settings,
    proxy: noProxyForApi ? 'direct' : 'env',
    quota: callBudget.guard,
    uploadSessions: createUploadSessions(ports.store, ports.clock),
  });
}

/** A wiki page is resolved to the base that it shows, once for each page. */
async function resolveTables(
  config: LoadedConfig,
  feishu: FeishuClient,
): Promise<Result<readonly AgentTable[], FeishuFailure>> {
  const tables: AgentTable[] = [];
  const resolved = new Map<string, string>();
  for (const [agent, { base, tableId }] of config.environment.tables) {
    const definition = config.definitions.agents.get(agent);
    if (definition === undefined) continue;
    const written = base.kind === 'base' ? base.appToken : base.nodeToken;
    let appToken = base.kind === 'base' ? base.appToken : resolved.get(written);
    if (appToken === undefined) {
      const answer = await feishu.resolveBase(`wiki/${written}`);
      if (!answer.ok) return fail(answer.failure);
      appToken = answer.value;
      resolved.set(written, appToken);
    }
    tables.push({ definition, table: { appToken, tableId } });
  }
  return ok(tables);
}
