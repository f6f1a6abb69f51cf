import {
  createSeededRandom,
  createVirtualClock,
  isJsonObject,
  type FetchInit,
  type JsonObject,
  type VirtualClock,
} from '../../src/kernel/index.ts';
import {
  createInProcessFetch,
  createPlainPainter,
  createSandbox,
  noLatencies,
  type Sandbox,
  type SandboxOptions,
  type TableSpec,
} from '../../src/sandbox/index.ts';

export const origin = 'http://sandbox.test';
export const tableId = 'tblTryOn';

export const tryOnTable: TableSpec = {
  name: '上身图',
  tableId,
  columns: [
    { name: '产品说明', type: 1 },
    { name: '产品图', type: 17 },
    { name: '操作', type: 3, options: ['提交', '通过', '打回', '取消'] },
    { name: '状态', type: 3, options: ['生成中', '完成'] },
    { name: '报错', type: 1 },
    { name: '成本(元)', type: 2 },
    { name: '日期', type: 5 },
    { name: '勾选', type: 7 },
    { name: '标签', type: 4 },
    { name: '负责人', type: 11 },
    { name: '链接', type: 15 },
    { name: '提交人', type: 1003 },
    { name: '公式', type: 20 },
  ],
};

/** An outside world under a virtual clock, with a signed-in client of the open platform. */
export interface TestWorld {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  /** Calls an address of the world; the answer's JSON with its status. */
  call(method: FetchInit['method'], path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The same, with a Feishu token. */
  feishu(method: FetchInit['method'], path: string, body?: unknown): Promise<Answer>;
  fetch: ReturnType<typeof createInProcessFetch>;
}

export interface Answer {
  readonly status: number;
  readonly json: unknown;
  readonly headers: Headers;
  /** A member by its path: `data.items.0.record_id`. */
  at(path: string): unknown;
  /** A list of objects by its path. */
  list(path: string): readonly JsonObject[];
}

function answerOf(status: number, json: unknown, headers: Headers): Answer {
  const at = (path: string): unknown =>
    path.split('.').reduce<unknown>((value, key) => {
      if (typeof value !== 'object' || value === null) return undefined;
      return Object.entries(value).find(([name]) => name === key)?.[1] as unknown;
    }, json);
  return {
    status,
    json,
    headers,
    at,
    list: (path) => {
      const value = at(path);
      return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
    },
  };
}

export async function openWorld(options: Partial<SandboxOptions> = {}): Promise<TestWorld> {
  const clock = createVirtualClock();
  const sandbox = createSandbox({
    clock,
    random: createSeededRandom(7),
    baseUrl: origin,
    latencies: noLatencies,
    painter: createPlainPainter(),
    tables: [tryOnTable],
    ...options,
  });
  await sandbox.seed();
  const fetch = createInProcessFetch(sandbox);
  const call: TestWorld['call'] = async (method, path, body, headers = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(origin + path, {
      method,
      headers: { ...(isRaw ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : text;
    return answerOf(response.status, json, response.headers);
  };
  const signIn = async (): Promise<string> => {
    const answer = await call('POST', '/feishu/open-apis/auth/v3/tenant_access_token/internal', {
      app_id: 'cli_5a9db0c05a9db0c0',
      app_secret: 'sandbox-secret',
    });
    return String(answer.at('tenant_access_token'));
  };
  let token: string | undefined;
  return {
    clock,
    sandbox,
    fetch,
    call,
    feishu: async (method, path, body) => {
      token ??= await signIn();
      return call(method, `/feishu/open-apis${path}`, body, { authorization: `Bearer ${token}` });
    },
  };
}

export const tablePath = (sandbox: Sandbox): string => `/bitable/v1/apps/${sandbox.appToken}/tables/${tableId}`;

/** Multipart bytes by hand, as the client writes them. */
export function form(
  fields: Readonly<Record<string, string | number>>,
  file: { name: string; fileName?: string; bytes: Uint8Array },
): { body: Uint8Array; headers: Record<string, string> } {
  const boundary = 'sandbox-test-boundary';
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  const parts = Object.entries(fields).map(([name, value]) =>
    encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  const fileName = file.fileName === undefined ? '' : `; filename="${file.fileName}"`;
  const head = encode(
    `--${boundary}\r\nContent-Disposition: form-data; name="${file.name}"${fileName}\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  return {
    body: Buffer.concat([...parts, head, file.bytes, encode(`\r\n--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
