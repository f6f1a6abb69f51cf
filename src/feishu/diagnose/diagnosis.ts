import type { FeishuFailure } from '../client.ts';
import { consoleLinks, neededScopes, wikiScope } from '../console-links.ts';

/** One finding of the doctor. */
export interface Diagnosis {
  readonly check: CheckName;
  /** `hint`: it works, but not as well as it could; `ok` is then true as well. */
  readonly level: 'ok' | 'hint' | 'fault';
  readonly ok: boolean;
  /** What was found. */
  readonly what: string;
  /** What to do; empty when nothing is. */
  readonly advice: string;
}

export type CheckName =
  | 'credentials'
  | 'bot'
  | 'base'
  | 'table'
  | 'columns'
  | 'read'
  | 'write'
  | 'upload'
  | 'download'
  | 'cleanup'
  | 'advanced-permission'
  | 'subscription'
  | 'long-connection'
  | 'message'
  | 'quota'
  | 'clock'
  | 'proxy';

export const fine = (check: CheckName, what: string): Diagnosis => ({ check, level: 'ok', ok: true, what, advice: '' });
export const hint = (check: CheckName, what: string, advice: string): Diagnosis => ({
  check,
  level: 'hint',
  ok: true,
  what,
  advice,
});
export const fault = (check: CheckName, what: string, advice: string): Diagnosis => ({
  check,
  level: 'fault',
  ok: false,
  what,
  advice,
});

/** The app whose console pages are named in the advice. */
export interface AppPlace {
  readonly appId: string;
  readonly baseUrl: string;
}

/** A finding from a failure: what the platform said, and what to do about it. */
export function faultOf(check: CheckName, failure: FeishuFailure, place: AppPlace): Diagnosis {
  const log = failure.logId === undefined ? '' : ` [log id ${failure.logId}]`;
  return fault(check, `${failure.message}${log}`, adviceOf(failure, place));
}

const addToBase =
  'let the app into the base: 「…」 at the top right of the base → 更多 → 添加文档应用 → the app → 可管理 (a base in a wiki: on the wiki page)';

/** What to do about a failure, by its code where that says more than its class. */
export function adviceOf(failure: FeishuFailure, place: AppPlace): string {
  const scopes = [...neededScopes, wikiScope].map((entry) => entry.scope);
  const links = consoleLinks(place.appId, place.baseUrl, scopes);
  const byCode: Readonly<Record<number, string>> = {
    10003: `FEISHU_APP_ID is not the id of an app; copy it from ${links.credentials}`,
    10014: `FEISHU_APP_SECRET is wrong (or was reset); copy it from ${links.credentials}`,
    10015: `FEISHU_APP_SECRET is wrong (or was reset); copy it from ${links.credentials}`,
    91402: 'the base token is wrong: open the base in the browser and copy its address',
    91403: addToBase,
    131005: 'the wiki link leads nowhere: open the page in the browser and copy its address again',
    131006: 'the app may not see the wiki page: 「…」 → 更多 → 添加文档应用 on the page, and the scope wiki:node:read',
    230002: 'bring the bot into the group: 设置 → 群机器人 → 添加机器人',
    230006: `give the app a bot: 添加应用能力 → 机器人 at ${links.app}, then release a version`,
    230013: `widen 可用范围 of the app (版本管理与发布 at ${links.app}) so that it holds the receiver`,
    99991401: 'the app has an IP allow list that this server is not on: 安全设置 → IP 白名单',
    99991403: 'the company’s API calls of this month are used up until the 1st; a paid plan has no such limit',
    99991543: `FEISHU_APP_ID and FEISHU_APP_SECRET do not belong together; copy both from ${links.credentials}`,
    99991662: `the app is switched off: enable it at ${links.app} or ask an administrator of the company`,
    99991672: `grant the scopes at ${links.scopes} , then release a version (版本管理与发布) and have it approved`,
    99991673: 'the app is not installed in this company: release a version and have it approved',
    1069603: `${addToBase}; edits are told to managers only`,
    1254301: `${addToBase}; under 高级权限 nothing less is enough`,
    1254302: `${addToBase}; under 高级权限 nothing less is enough`,
    1254304: `${addToBase}; under 高级权限 nothing less is enough`,
    1254040: 'the base token is wrong: open the base in the browser and copy its address',
    1254041: 'the table is not in this base: open the table in the browser and copy its address',
  };
  return byCode[failure.code] ?? adviceByClass(failure, links.scopes);
}

function adviceByClass(failure: FeishuFailure, scopesLink: string): string {
  switch (failure.class) {
    case 'retry':
      return failure.httpStatus === 0
        ? 'the platform could not be reached: check the network, FEISHU_BASE_URL, and a proxy in the way'
        : 'the platform had trouble of its own; try again in a few minutes';
    case 'throttled':
    case 'conflict':
      return 'others are using the base heavily; try again in a few minutes';
    case 'permission':
      return `${addToBase}; and grant the scopes at ${scopesLink}`;
    case 'quota':
      return 'the calls are used up; see the quota check';
    case 'credential':
      return 'check FEISHU_APP_ID and FEISHU_APP_SECRET, and that a version of the app is released';
    case 'config':
      return failure.httpStatus === 404 || failure.httpStatus === 200
        ? 'FEISHU_BASE_URL does not lead to the open platform (https://open.feishu.cn or https://open.larksuite.com)'
        : 'check the base link, the table id and FEISHU_BASE_URL';
    case 'schema':
      return 'a column was renamed, removed or is hidden from the app; see the columns check';
    case 'gone':
      return 'it was deleted meanwhile; run the doctor again';
    case 'too-large':
    case 'invalid':
    case 'foreign-attachment':
      return 'the platform refused the request as it is; please report it with the log id';
  }
}
