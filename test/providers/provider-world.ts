import type { Artifact, ModelSettings, PreparedRequest, Provider, ProviderAccount } from '../../src/contract/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  type Fetch,
  type FetchInit,
  type JsonObject,
  type Logger,
  Secret,
  silentLogger,
  TransportError,
  type VirtualClock,
} from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { providerFactories } from '../../src/providers/index.ts';

interface SeenCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: unknown;
  readonly bytes: Uint8Array | undefined;
}

export type Reply = Response | TransportError | (() => Promise<Response>);

export interface ProviderWorld {
  readonly provider: Provider;
  readonly clock: VirtualClock;
  readonly calls: readonly SeenCall[];
  readonly spool: ReturnType<typeof createMemorySpool>;
  /** Gives these answers in turn to calls whose address contains `part`; the last one for ever. */
  readonly answer: (part: string, ...replies: (() => Reply)[]) => void;
  readonly keep: (bytes: Uint8Array, name: string) => Promise<Artifact>;
}

export const apiKey = 'sk-very-secret-key-0123456789';

/** A provider on a fake network that answers what a test says. */
export function providerWith(
  vendor: string,
  options: { readonly account?: Partial<ProviderAccount>; readonly logger?: Logger } = {},
): ProviderWorld {
  const clock = createVirtualClock();
  const calls: SeenCall[] = [];
  const rules: { part: string; replies: (() => Reply)[]; used: number }[] = [];
  const spool = createMemorySpool();
  const fetch: Fetch = async (url, init) => {
    calls.push(see(url, init));
    const rule = rules.find((each) => url.includes(each.part));
    if (rule === undefined) throw new TransportError('not-sent', 'ENOTFOUND', `nothing answers ${url}`);
    const reply = rule.replies[Math.min(rule.used, rule.replies.length - 1)]?.();
    rule.used += 1;
    if (reply instanceof TransportError) throw reply;
    if (typeof reply === 'function') return await reply();
    if (reply === undefined) throw new Error('no reply');
    return reply;
  };
  const factory = providerFactories[vendor];
  if (factory === undefined) throw new Error(`no vendor ${vendor}`);
  const provider = factory({
    account: {
      id: vendor,
      baseUrl: `https://${vendor}.example/`,
      uploadBaseUrl: `https://upload.${vendor}.example`,
      key: new Secret(apiKey),
      proxy: 'direct',
      ...options.account,
    },
    fetch,
    clock,
    ids: createIdSource(clock, createSeededRandom(1)),
    logger: options.logger ?? silentLogger,
    media: spool,
    timeouts: { connectMs: 15_000, submitMs: 180_000, queryMs: 30_000, textMs: 180_000 },
  });
  return {
    provider,
    clock,
    calls,
    spool,
    answer: (part, ...replies) => {
      rules.unshift({ part, replies, used: 0 });
    },
    keep: async (bytes, name) => {
      const kept = await spool.keep(bytes, name);
      if (!kept.ok) throw new Error(kept.failure.message);
      return kept.value;
    },
  };
}

function see(url: string, init: FetchInit): SeenCall {
  const { body } = init;
  return {
    url,
    method: init.method,
    headers: init.headers ?? {},
    json: typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined,
    bytes: body instanceof Uint8Array ? body : undefined,
  };
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): (() => Response) =>
  () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });

export const lost =
  (code = 'ECONNRESET'): (() => TransportError) =>
  () =>
    new TransportError('maybe-sent', code, 'connection reset after sending');

export const notSent =
  (code = 'ECONNREFUSED'): (() => TransportError) =>
  () =>
    new TransportError('not-sent', code, 'could not connect');

/** Never answers. */
export const silence = (): Reply => () => new Promise<Response>(() => undefined);

export const png = (fill = 1): Uint8Array =>
  Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(200, fill)]);

export const signal = new AbortController().signal;

export function modelOf(settings: Partial<ModelSettings> & Pick<ModelSettings, 'implementation'>): ModelSettings {
  return { id: 'test-model', model: 'maker/test-model', capability: ['image.generate'], ...settings };
}

export function adapterOf(world: ProviderWorld, implementation: string): Provider['adapters'][number] {
  const adapter = world.provider.adapters.find((each) => each.implementation === implementation);
  if (adapter === undefined) throw new Error(`no adapter ${implementation}`);
  return adapter;
}

/** A request as the engine would store it, for a call with these values. */
export async function prepared(
  world: ProviderWorld,
  implementation: string,
  input: JsonObject,
  settings: Partial<ModelSettings> = {},
  key = 'key-1',
): Promise<PreparedRequest> {
  const adapter = adapterOf(world, implementation);
  const model = modelOf({ implementation, fields: { prompt: { name: 'prompt' } }, ...settings });
  const got = await adapter.prepare({ key, capability: adapter.capabilities[0]!, model, input }, signal);
  if (!got.ok) throw new Error(got.failure.message);
  return got.value;
}
