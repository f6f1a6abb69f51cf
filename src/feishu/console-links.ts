import { normaliseBaseUrl } from '../providers/http/index.ts';
import { recordChangedEvent } from './record-event.ts';

/** The scopes that the app needs; `why` is shown beside them. Any one of a line's alternatives would do; we ask for one. */
export const neededScopes = [
  { scope: 'bitable:app', why: 'read and write the tables' },
  { scope: 'docs:document.media:upload', why: 'put results into attachment cells' },
  { scope: 'docs:document.media:download', why: 'read pictures that staff attach' },
  { scope: 'im:message:send_as_bot', why: 'hints and results to the group and to the submitter' },
  { scope: 'docs:event:subscribe', why: 'hear of edits at once (the long connection)' },
] as const;

/** Only for a base that lies in a wiki. */
export const wikiScope = { scope: 'wiki:node:read', why: 'find the base behind a wiki page' } as const;

/** Pages of the developer console. Menu names are given with each link, since pages move. */
export interface ConsoleLinks {
  /** Where an app is made. */
  readonly apps: string;
  readonly app: string;
  readonly credentials: string;
  /** Opens the page with the scopes ticked. */
  readonly scopes: string;
  readonly events: string;
}

const consoleHosts = { feishu: 'https://open.feishu.cn', lark: 'https://open.larksuite.com' } as const;

export function consoleLinks(appId: string, baseUrl: string, scopes: readonly string[]): ConsoleLinks {
  const host =
    normaliseBaseUrl(baseUrl, ['/open-apis']) === consoleHosts.lark ? consoleHosts.lark : consoleHosts.feishu;
  const app = `${host}/app/${encodeURIComponent(appId)}`;
  return {
    apps: `${host}/app`,
    app,
    credentials: `${app}/baseinfo`,
    scopes: `${app}/auth?q=${scopes.join(',')}&op_from=openapi&token_type=tenant`,
    events: `${app}/event`,
  };
}

/** One step of the guided first hour. */
export interface SetupStep {
  readonly id: SetupStepId;
  readonly title: string;
  readonly link?: string;
  /** What to do, one line each. */
  readonly lines: readonly string[];
  /** The long connection must be open while this step is done: the console saves the mode only then. */
  readonly needsOpenConnection?: true;
}

export type SetupStepId =
  | 'tenant'
  | 'create-app'
  | 'bot-ability'
  | 'scopes'
  | 'long-connection'
  | 'event'
  | 'release'
  | 'base-manager'
  | 'group'
  | 'lock-columns';

export interface SetupChoices {
  /** Undefined before the app exists. */
  readonly appId?: string;
  readonly baseUrl: string;
  readonly isWiki: boolean;
  readonly wantsGroup: boolean;
  readonly wantsWakeups: boolean;
  /** Columns that only the bot writes. */
  readonly botColumns: readonly string[];
}

/** The steps in the order in which they work; each can be done again without harm. */
export function setupSteps(choices: SetupChoices): readonly SetupStep[] {
  const scopes = [...neededScopes, ...(choices.isWiki ? [wikiScope] : [])];
  const names = scopes.map((entry) => entry.scope);
  const links = consoleLinks(choices.appId ?? 'cli_', choices.baseUrl, names);
  const wakeups = choices.wantsWakeups ? wakeupSteps(links) : [];
  return [
    {
      id: 'tenant',
      title: 'A company account',
      lines: [
        'Self-built apps exist only in a company (team) tenant. A personal account must first create or join one: 飞书 → 头像 → 登录更多账号 → 创建团队.',
        'Releasing an app needs the consent of an administrator of that company; know who that is before you begin.',
      ],
    },
    ...(choices.appId === undefined ? [createAppStep(links)] : []),
    {
      id: 'bot-ability',
      title: 'Give the app a bot',
      link: links.app,
      lines: ['添加应用能力 → 机器人 → 添加. Without it no message can be sent.'],
    },
    {
      id: 'scopes',
      title: 'Grant the scopes',
      link: links.scopes,
      lines: [
        'The link opens 权限管理 with the scopes chosen; confirm them as 应用身份权限 (tenant token).',
        'To hear of edits, bitable:app is needed as 用户身份权限 (user token) as well.',
        ...scopes.map((entry) => `${entry.scope}: ${entry.why}`),
      ],
    },
    ...wakeups,
    {
      id: 'release',
      title: 'Release a version',
      link: links.app,
      lines: [
        '版本管理与发布 → 创建版本 → 可用范围: everyone who shall get messages → 申请线上发布.',
        'Scopes, bot and events take effect only after the release has been approved. Each later change needs a new version.',
      ],
    },
    baseManagerStep(choices.isWiki),
    ...(choices.wantsGroup ? [groupStep] : []),
    lockStep(choices.botColumns),
  ];
}

function createAppStep(links: ConsoleLinks): SetupStep {
  return {
    id: 'create-app',
    title: 'Create the app',
    link: links.apps,
    lines: ['创建企业自建应用 → name and icon → 凭证与基础信息: copy App ID and App Secret.'],
  };
}

function wakeupSteps(links: ConsoleLinks): readonly SetupStep[] {
  return [
    {
      id: 'long-connection',
      title: 'Choose the long connection',
      link: links.events,
      needsOpenConnection: true,
      lines: [
        '事件与回调 → 事件配置 → 订阅方式 → 使用长连接接收事件 → 保存.',
        'The console saves this only while a client is connected: this program is holding the connection open for you now.',
      ],
    },
    {
      id: 'event',
      title: 'Add the event',
      link: links.events,
      lines: [`添加事件 → 云文档 → 多维表格记录变更 (${recordChangedEvent}), and grant the scopes that it asks for.`],
    },
  ];
}

function baseManagerStep(isWiki: boolean): SetupStep {
  const place = isWiki ? 'the wiki page that holds the base' : 'the base';
  return {
    id: 'base-manager',
    title: 'Let the app into the base',
    lines: [
      `Open ${place} → 「…」 at the top right → 更多 → 添加文档应用 → search for the app → 可管理.`,
      '可管理 is needed for edits to be told and, under 高级权限, for rows to be seen at all. 可阅读 lets reads work and every write fail.',
    ],
  };
}

const groupStep: SetupStep = {
  id: 'group',
  title: 'Bring the bot into the group',
  lines: [
    'Group → 设置 → 群机器人 → 添加机器人 → the app (only released apps are listed).',
    'ALERT_CHAT_ID is the group’s id, which begins with "oc_": group → 设置, at the very bottom (会话 ID).',
  ],
};

function lockStep(botColumns: readonly string[]): SetupStep {
  return {
    id: 'lock-columns',
    title: 'Lock the columns of the bot (advised)',
    lines: [
      '高级权限 → role of staff → 自定义 → make these columns read-only, and leave 操作 and the inputs editable:',
      botColumns.join(' '),
      'Then give the app the role 可管理, or it will see no rows.',
    ],
  };
}
