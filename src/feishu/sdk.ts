import { createRequire } from 'node:module';
import { z } from 'zod';

/**
 * The official SDK (`@larksuiteoapi/node-sdk` 1.74), reduced to the few members that we call. It is loaded with `require` and
 * described here by hand on purpose: its type file has 17.7 MB (6 s and 0.5 GB for each type check and each lint), its code
 * 6.3 MB (about 240 ms and 33 MB), and it comes as one CommonJS file, so nothing smaller can be imported.
 */
export interface SdkRequest {
  readonly method: string;
  readonly url: string;
  readonly params?: object;
  readonly data?: object;
  readonly headers?: object;
}

/** What the SDK calls for each request; see `createHttpInstance`. */
export interface SdkHttpInstance {
  request(options: unknown): Promise<unknown>;
}

/** Each method receives one array of arguments. */
export interface SdkLogger {
  error(parts: unknown): void;
  warn(parts: unknown): void;
  info(parts: unknown): void;
  debug(parts: unknown): void;
  trace(parts: unknown): void;
}

export interface SdkClient {
  request(request: SdkRequest, options?: unknown): Promise<unknown>;
}

export interface SdkSocketClient {
  start(options: { readonly eventDispatcher: unknown }): Promise<void>;
  close(options?: { readonly force?: boolean }): void;
  getConnectionStatus(): { readonly state: string };
}

interface SdkCommonOptions {
  readonly appId: string;
  readonly appSecret: string;
  readonly domain: string;
  readonly httpInstance: SdkHttpInstance;
  readonly logger: SdkLogger;
  readonly loggerLevel: number;
}

type ClientConstructor = new (options: SdkCommonOptions & { readonly disableTokenCache: true }) => SdkClient;

type SocketClientConstructor = new (
  options: SdkCommonOptions & {
    readonly agent?: unknown;
    readonly handshakeTimeoutMs: number;
    readonly wsConfig: { readonly pingTimeout: number };
    readonly onReady: () => void;
    readonly onReconnecting: () => void;
    readonly onReconnected: () => void;
    readonly onError: (error: Error) => void;
  },
) => SdkSocketClient;

export interface SdkEventDispatcher {
  register(handlers: Readonly<Record<string, (event: unknown) => void>>): unknown;
}

type EventDispatcherConstructor = new (options: {
  readonly logger: SdkLogger;
  readonly loggerLevel: number;
}) => SdkEventDispatcher;

const callable = (value: unknown): boolean => typeof value === 'function';

const sdkSchema = z.object({
  Client: z.custom<ClientConstructor>(callable),
  WSClient: z.custom<SocketClientConstructor>(callable),
  EventDispatcher: z.custom<EventDispatcherConstructor>(callable),
  withTenantToken: z.custom<(token: string) => unknown>(callable),
  LoggerLevel: z.object({ warn: z.number() }),
});

export type Sdk = z.infer<typeof sdkSchema>;

/** Loads the SDK; Node keeps it, so a second call costs nothing. Throws when the installed one lacks a member we need. */
export function loadSdk(): Sdk {
  const require = createRequire(import.meta.url);
  const loaded: unknown = require('@larksuiteoapi/node-sdk');
  return sdkSchema.parse(loaded);
}
