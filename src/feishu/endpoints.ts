import { fail, type FetchInit, ok, type Result } from '../kernel/index.ts';

/** What we know of one of Feishu's endpoints. */
export interface Endpoint {
  readonly method: FetchInit['method'];
  /** Below the base URL; `:name` is filled in, encoded. */
  readonly path: string;
  /** Which of the settings' timeouts bounds a call: `query` for small JSON, `submit` where bytes travel. */
  readonly limit: 'query' | 'submit';
  /**
   * Whole tries, first one included, when the server stumbles or no answer comes. More than one only where a repeat cannot
   * do harm: reads that no tick repeats, uploads (a stray upload is never attached), calls that carry an id of their own.
   */
  readonly maxAttempts: number;
  /** Shares the media rate: at most so many a second, each endpoint by itself. */
  readonly isMedia?: true;
  /** Called without a token. */
  readonly isOpen?: true;
}

const table = '/open-apis/bitable/v1/apps/:app_token/tables';
const records = `${table}/:table_id/records`;
const medias = '/open-apis/drive/v1/medias';
const media = { limit: 'submit', maxAttempts: 4, isMedia: true } as const;

/** Every endpoint we call; the keys are the names in logs and in the count of calls. */
export const endpoints = {
  'auth.token': {
    method: 'POST',
    path: '/open-apis/auth/v3/tenant_access_token/internal',
    limit: 'query',
    maxAttempts: 2,
    isOpen: true,
  },
  'bot.info': { method: 'GET', path: '/open-apis/bot/v3/info', limit: 'query', maxAttempts: 2 },
  'wiki.get-node': { method: 'GET', path: '/open-apis/wiki/v2/spaces/get_node', limit: 'query', maxAttempts: 3 },
  'bitable.app': { method: 'GET', path: '/open-apis/bitable/v1/apps/:app_token', limit: 'query', maxAttempts: 3 },
  'bitable.tables.list': { method: 'GET', path: table, limit: 'query', maxAttempts: 3 },
  'bitable.tables.create': { method: 'POST', path: table, limit: 'query', maxAttempts: 1 },
  'bitable.fields.list': { method: 'GET', path: `${table}/:table_id/fields`, limit: 'query', maxAttempts: 3 },
  'bitable.fields.create': { method: 'POST', path: `${table}/:table_id/fields`, limit: 'query', maxAttempts: 2 },
  'bitable.records.search': { method: 'POST', path: `${records}/search`, limit: 'query', maxAttempts: 1 },
  'bitable.records.batch-get': { method: 'POST', path: `${records}/batch_get`, limit: 'query', maxAttempts: 1 },
  'bitable.records.batch-update': { method: 'POST', path: `${records}/batch_update`, limit: 'query', maxAttempts: 1 },
  'bitable.records.batch-create': { method: 'POST', path: `${records}/batch_create`, limit: 'query', maxAttempts: 2 },
  'bitable.records.delete': { method: 'DELETE', path: `${records}/:record_id`, limit: 'query', maxAttempts: 1 },
  'media.upload-all': { method: 'POST', path: `${medias}/upload_all`, ...media },
  'media.upload-prepare': { method: 'POST', path: `${medias}/upload_prepare`, ...media },
  'media.upload-part': { method: 'POST', path: `${medias}/upload_part`, ...media },
  'media.upload-finish': { method: 'POST', path: `${medias}/upload_finish`, ...media },
  'media.download': { method: 'GET', path: `${medias}/:file_token/download`, ...media, limit: 'query', maxAttempts: 2 },
  'im.message': { method: 'POST', path: '/open-apis/im/v1/messages', limit: 'query', maxAttempts: 3 },
  'drive.subscribe': {
    method: 'POST',
    path: '/open-apis/drive/v1/files/:file_token/subscribe',
    limit: 'query',
    maxAttempts: 3,
  },
  'drive.get-subscribe': {
    method: 'GET',
    path: '/open-apis/drive/v1/files/:file_token/get_subscribe',
    limit: 'query',
    maxAttempts: 2,
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** Fills the path; the SDK itself would put an id with `?` or `/` in it into the address as it is. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): Result<string, string> {
  const missing = [...path.matchAll(/:([a-z_]+)/g)]
    .map(([, name = '']) => name)
    .find((name) => (values[name] ?? '') === '');
  if (missing !== undefined) return fail(`"${missing}" is missing`);
  return ok(path.replace(/:([a-z_]+)/g, (_whole, name: string) => encodeURIComponent(values[name] ?? '')));
}
