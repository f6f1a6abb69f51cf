import { Secret } from '../kernel/index.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import { readAppLink, readTableLink, type BaseRef, type TableLink } from './links.ts';
import { readBaseUrl } from './urls.ts';
import { envFilePlace, type Variables } from './variables.ts';

export type Mode = 'live' | 'sandbox';

/** The environment, parsed: what of the contract's variables is set, with their defaults. */
export interface Environment {
  readonly mode: Mode;
  /** Absent only without credentials (in the sandbox the sandbox gives them). */
  readonly feishu?: { readonly appId: string; readonly appSecret: Secret; readonly baseUrl: string };
  /** The base that holds the tables that carry none of their own. */
  readonly base?: BaseRef;
  /** Tables by agent; an agent runs when its table is named. */
  readonly tables: ReadonlyMap<string, { readonly base: BaseRef; readonly tableId: string }>;
  /** A table of the team's own snippets, beside the folder; no agent runs on it. */
  readonly knowledgeTable?: { readonly base: BaseRef; readonly tableId: string };
  readonly alertChatId?: string;
  readonly pushplus?: { readonly token: Secret; readonly baseUrl: string };
  readonly heartbeatUrl?: string;
  /** Holds a password. */
  readonly databaseUrl?: Secret;
  readonly dataDir: string;
  readonly monitorDir: string;
  readonly instance?: string;
  readonly timezone: string;
  readonly noProxyForApi: boolean;
  /** The switches that an agent's `confirm: {setting}` may name. */
  readonly switches: Readonly<Record<string, boolean>>;
}

export const switchNames: readonly string[] = ['SB_CONFIRM'];

/** `live` with Feishu credentials, else `sandbox`; `GRIDLOOM_MODE` forces one. Half a credential counts as meant live. */
export function modeOf(variables: Variables): Mode {
  const forced = variables.get('GRIDLOOM_MODE')?.value;
  if (forced === 'live' || forced === 'sandbox') return forced;
  return variables.has('FEISHU_APP_ID') || variables.has('FEISHU_APP_SECRET') ? 'live' : 'sandbox';
}

/** `tableVariables`: agent → the variable that names its table. */
export function readEnvironment(
  variables: Variables,
  tableVariables: ReadonlyMap<string, string>,
): { readonly environment: Environment; readonly faults: readonly ConfigFault[] } {
  const reader = createReader(variables);
  const mode = modeOf(variables);
  const forced = variables.get('GRIDLOOM_MODE');
  if (forced !== undefined && forced.value !== mode) reader.refuse('GRIDLOOM_MODE', 'write live or sandbox');
  const appId = reader.text('FEISHU_APP_ID');
  const appSecret = reader.text('FEISHU_APP_SECRET');
  const feishuUrl = reader.url('FEISHU_BASE_URL') ?? 'https://open.feishu.cn';
  if (mode === 'live' && appId === undefined) reader.missing('FEISHU_APP_ID', 'the app id of the Feishu app (cli_…)');
  if (mode === 'live' && appSecret === undefined) reader.missing('FEISHU_APP_SECRET', 'the secret of the Feishu app');
  const { base, tables } = readTables(reader, tableVariables, mode);
  const knowledgeTable = readKnowledgeTable(reader, base);
  const pushplusToken = reader.text('PUSHPLUS_TOKEN');
  const pushplusUrl = reader.url('PUSHPLUS_BASE_URL') ?? 'https://www.pushplus.plus';
  const timezone = readTimezone(reader);
  const databaseUrl = readDatabaseUrl(reader);
  const instance = readInstance(reader);
  const alertChatId = reader.text('ALERT_CHAT_ID');
  const heartbeatUrl = readHeartbeatUrl(reader);
  const environment: Environment = {
    mode,
    tables,
    ...(appId !== undefined && appSecret !== undefined
      ? { feishu: { appId, appSecret: new Secret(appSecret), baseUrl: feishuUrl } }
      : {}),
    ...(base === undefined ? {} : { base }),
    ...(knowledgeTable === undefined ? {} : { knowledgeTable }),
    ...(alertChatId === undefined ? {} : { alertChatId }),
    ...(pushplusToken === undefined ? {} : { pushplus: { token: new Secret(pushplusToken), baseUrl: pushplusUrl } }),
    ...(heartbeatUrl === undefined ? {} : { heartbeatUrl }),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    dataDir: reader.text('GRIDLOOM_DATA_DIR') ?? 'data',
    monitorDir: reader.text('GRIDLOOM_MONITOR_DIR') ?? 'webmon',
    ...(instance === undefined ? {} : { instance }),
    timezone,
    noProxyForApi: reader.flag('NO_PROXY_FOR_API', true),
    switches: Object.fromEntries(switchNames.map((name) => [name, reader.flag(name, true)])),
  };
  return { environment, faults: reader.faults };
}

type Reader = ReturnType<typeof createReader>;

function createReader(variables: Variables) {
  const faults: ConfigFault[] = [];
  const text = (name: string): string | undefined => variables.get(name)?.value;
  const refuse = (name: string, advice: string): void => {
    const variable = variables.get(name);
    faults.push(faultAt(variable?.place ?? envFilePlace, `${name} is not usable`, advice));
  };
  return {
    faults,
    text,
    refuse,
    missing: (name: string, meaning: string): void => {
      faults.push(faultAt(envFilePlace, `${name} is missing`, `set it: ${meaning}`));
    },
    url: (name: string): string | undefined => {
      const written = text(name);
      if (written === undefined) return undefined;
      const read = readBaseUrl(written);
      if (read.ok) return read.value;
      refuse(name, read.failure);
      return undefined;
    },
    flag: (name: string, preset: boolean): boolean => {
      const written = text(name)?.toLowerCase();
      if (written === undefined) return preset;
      if (written === '1' || written === 'true') return true;
      if (written === '0' || written === 'false') return false;
      refuse(name, 'write 1 or 0');
      return preset;
    },
  };
}

/** `KNOWLEDGE_TABLE_ID`: as an agent's table is written. */
function readKnowledgeTable(reader: Reader, common: BaseRef | undefined): Environment['knowledgeTable'] {
  const written = reader.text('KNOWLEDGE_TABLE_ID');
  if (written === undefined) return undefined;
  const link = readTableLink(written);
  const base = link.ok ? (link.value.base ?? common) : undefined;
  if (!link.ok) reader.refuse('KNOWLEDGE_TABLE_ID', link.failure);
  else if (base === undefined)
    reader.refuse('KNOWLEDGE_TABLE_ID', 'write APP_TOKEN/TABLE_ID, or set BITABLE_APP_TOKEN');
  return link.ok && base !== undefined ? { base, tableId: link.value.tableId } : undefined;
}

function readTables(
  reader: Reader,
  tableVariables: ReadonlyMap<string, string>,
  mode: Mode,
): { base: BaseRef | undefined; tables: Environment['tables'] } {
  const written = reader.text('BITABLE_APP_TOKEN');
  const read = written === undefined ? undefined : readAppLink(written);
  if (read?.ok === false) reader.refuse('BITABLE_APP_TOKEN', read.failure);
  const base = read?.ok === true ? read.value : undefined;
  const links = new Map<string, TableLink>();
  for (const [agent, variable] of tableVariables) {
    const link = reader.text(variable);
    if (link === undefined) continue;
    const table = readTableLink(link);
    if (table.ok) links.set(agent, table.value);
    else reader.refuse(variable, table.failure);
  }
  const tables = new Map<string, { base: BaseRef; tableId: string }>();
  for (const [agent, link] of links) {
    const home = link.base ?? base;
    if (home !== undefined) tables.set(agent, { base: home, tableId: link.tableId });
  }
  const needsBase = links.size === 0 || tables.size < links.size;
  if (mode === 'live' && needsBase && written === undefined) {
    reader.missing('BITABLE_APP_TOKEN', 'the token or the link of the base that holds the tables');
  }
  const isAnyWritten = [...tableVariables.values()].some((variable) => reader.text(variable) !== undefined);
  if (mode === 'live' && !isAnyWritten) {
    reader.missing([...tableVariables.values()].join(' or '), 'an agent runs when its table is named');
  }
  return { base, tables };
}

function readTimezone(reader: Reader): string {
  const zone = reader.text('GRIDLOOM_TIMEZONE') ?? 'Asia/Shanghai';
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone;
  } catch {
    reader.refuse('GRIDLOOM_TIMEZONE', 'write an IANA zone like Asia/Shanghai');
    return 'Asia/Shanghai';
  }
}

function readInstance(reader: Reader): string | undefined {
  const tag = reader.text('GRIDLOOM_INSTANCE');
  if (tag === undefined || /^[A-Za-z0-9_-]{1,40}$/.test(tag)) return tag;
  reader.refuse('GRIDLOOM_INSTANCE', 'letters, digits, "-" and "_", at most 40');
  return undefined;
}

function readDatabaseUrl(reader: Reader): Secret | undefined {
  const written = reader.text('DATABASE_URL');
  if (written === undefined) return undefined;
  if (/^postgres(ql)?:\/\/./.test(written)) return new Secret(written);
  reader.refuse('DATABASE_URL', 'write it like postgres://user:password@host:5432/name, or leave it out for SQLite');
  return undefined;
}

/** Kept as written: monitoring services put their token in path or query. */
function readHeartbeatUrl(reader: Reader): string | undefined {
  const written = reader.text('HEARTBEAT_URL');
  if (written === undefined || (/^https?:\/\//.test(written) && URL.canParse(written))) return written;
  reader.refuse('HEARTBEAT_URL', 'write an http or https address');
  return undefined;
}
