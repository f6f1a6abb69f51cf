import { lookup } from 'node:dns/promises';
import type { AgentTable } from '../../bitable/index.ts';
import type { LoadedConfig } from '../../config/index.ts';
import {
  type AppPlace,
  checkBase,
  checkBot,
  checkClock,
  checkCredentials,
  checkLongConnection,
  checkMessage,
  checkProxy,
  checkSubscription,
  createFeishuClient,
  createLongConnection,
} from '../../feishu/index.ts';
import type { createProbePorts } from '../../app/working.ts';
import { checkAgentTable } from './agent-table.ts';
import { type Finding, fine, hint, placed } from './finding.ts';
import { checkKnowledgeTable } from './knowledge-table.ts';

type Platform = ReturnType<typeof createFeishuClient>;
type ProbePorts = ReturnType<typeof createProbePorts>;

export interface PlatformOptions {
  readonly config: LoadedConfig;
  readonly ports: ProbePorts;
  /** Rows may be made and undone, files uploaded, a message sent. */
  readonly mayProbe: boolean;
  /** A worker runs on this data directory: the long connection is its own. */
  readonly isWorkerRunning: boolean;
  /** Ends it; what was made is undone first. */
  readonly signal: AbortSignal;
}

/** The platform from the outside in: way, credentials, bot, bases, tables, events, messages. Stops where the rest would only repeat a fault. */
export async function checkPlatform(options: PlatformOptions): Promise<readonly Finding[]> {
  const { config, ports, signal } = options;
  const { feishu, noProxyForApi, knowledgeTable: knowledge } = config.environment;
  if (feishu === undefined) return [];
  const place: AppPlace = { appId: feishu.appId, baseUrl: feishu.baseUrl };
  const client = createFeishuClient({
    ...feishu,
    ...ports,
    settings: config.settings,
    proxy: noProxyForApi ? 'direct' : 'env',
  });
  const way = placed(checkProxy({ ...(await resolved(feishu.baseUrl)), proxies: proxiesOf(process.env) }));
  const credentials = placed(await checkCredentials(client, place));
  if (credentials.level === 'fault') return [way, credentials];
  const bot = placed((await checkBot(client, place)).diagnosis);
  const tables = await checkBases(options, client, place);
  return [
    way,
    credentials,
    bot,
    ...tables,
    ...(knowledge === undefined ? [] : await checkKnowledgeTable({ knowledge, client, place, signal })),
    await checkEvents(options),
    ...(await checkGroup(options, client, place)),
    placed(checkClock(client)),
  ];
}

async function resolved(baseUrl: string): Promise<{ host: string; addresses: readonly string[] }> {
  const host = new URL(baseUrl).hostname;
  const found = await lookup(host, { all: true }).catch(() => []);
  return { host, addresses: found.map(({ address }) => address) };
}

function proxiesOf(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  return Object.fromEntries(names.map((name) => [name, env[name] ?? env[name.toLowerCase()]]));
}

/** Each base once, then its tables in the order of the configuration. */
async function checkBases(options: PlatformOptions, client: Platform, place: AppPlace): Promise<readonly Finding[]> {
  const { config, mayProbe, ports, signal } = options;
  const byBase = Map.groupBy(config.environment.tables, ([, { base }]) =>
    base.kind === 'base' ? base.appToken : `wiki/${base.nodeToken}`,
  );
  const found: Finding[] = [];
  for (const [written, entries] of byBase) {
    const { diagnosis, base } = await checkBase(client, written, place, signal);
    found.push(placed(diagnosis));
    if (base === undefined) continue;
    for (const [agent, { tableId }] of entries) {
      const definition = config.definitions.agents.get(agent);
      if (definition === undefined) continue;
      const table: AgentTable = { definition, table: { appToken: base.appToken, tableId } };
      found.push(
        ...(await checkAgentTable({ ...base, ...table, client, place, mayProbe, clock: ports.clock, signal })),
      );
    }
    if (config.settings.feishu.wakeups) found.push(placed(await checkSubscription(client, base.appToken, place)));
  }
  return found;
}

async function checkEvents({ config, ports, isWorkerRunning, signal }: PlatformOptions): Promise<Finding> {
  const { feishu, noProxyForApi } = config.environment;
  if (!config.settings.feishu.wakeups || feishu === undefined)
    return hint('long-connection', 'feishu.wakeups is off: words are found by polling only', 'set it to true');
  if (isWorkerRunning) return fine('long-connection', 'held by the worker that runs; see its log');
  const source = createLongConnection({ ...feishu, ...ports, proxy: noProxyForApi ? 'direct' : 'env' });
  try {
    return placed(await checkLongConnection(source, ports.clock, undefined, signal));
  } finally {
    await source.stop();
  }
}

async function checkGroup(
  { config, mayProbe, ports }: PlatformOptions,
  client: Platform,
  place: AppPlace,
): Promise<readonly Finding[]> {
  const { alertChatId } = config.environment;
  if (alertChatId === undefined)
    return [hint('message', 'ALERT_CHAT_ID is not set', 'hints stand in 提示 of the row, alerts go to pushplus alone')];
  if (!mayProbe) return [];
  const message = { text: 'Gridloom 自检：这个群可以收到提示和告警。', uuid: ports.ids.uuid() };
  return [placed(await checkMessage(client, alertChatId, message, place))];
}
