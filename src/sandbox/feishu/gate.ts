import { TransportError } from '../../kernel/index.ts';
import { addEndpoint, type Call, type EndpointDefinition, jsonResponse } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';
import { dressRefusal, Refusal } from './refusal.ts';

interface TokenEntry {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Tokens given out, the rate windows, and the way into every endpoint of the open platform but the token's own. */
export interface FeishuGate {
  /** A token with at least half an hour left is given again; else a new one, the old staying valid. */
  issueToken(): { token: string; expireS: number };
  /** Makes every token given out so far worthless. */
  expireTokens(): void;
  add(definition: FeishuEndpoint): void;
}

interface FeishuEndpoint extends EndpointDefinition {
  /** Calls a second for this app. */
  readonly perSecond: number;
}

const renewBeforeMs = 30 * 60_000;

export function createFeishuGate(world: World): FeishuGate {
  let tokens: TokenEntry[] = [];
  const windows = new Map<string, { second: number; count: number }>();
  const check = (call: Call, perSecond: number): void => {
    checkToken(call, tokens, world.clock.nowMs());
    takeQuota(world);
    if (world.controls.enforceRates) takeRate(windows, { name: call.endpoint, perSecond }, world.clock.nowMs());
  };
  return {
    issueToken: () => {
      const nowMs = world.clock.nowMs();
      const current = tokens.at(-1);
      if (current !== undefined && current.expiresAtMs - nowMs >= renewBeforeMs) {
        return { token: current.token, expireS: Math.floor((current.expiresAtMs - nowMs) / 1000) };
      }
      const entry = { token: newToken(world, 't-g104', 36), expiresAtMs: nowMs + world.controls.tokenLifeMs };
      tokens = [...tokens.filter((token) => token.expiresAtMs > nowMs), entry];
      return { token: entry.token, expireS: Math.floor(world.controls.tokenLifeMs / 1000) };
    },
    expireTokens: () => {
      tokens = [];
    },
    add: (definition) => {
      addEndpoint(world, {
        ...definition,
        handle: async (call) => {
          try {
            check(call, definition.perSecond);
            return await definition.handle(call);
          } catch (error) {
            if (error instanceof RateRefusal) return error.toResponse();
            if (error instanceof Refusal) return dressRefusal(world, error);
            throw error instanceof TransportError ? error : new Error(`sandbox: ${definition.name}`, { cause: error });
          }
        },
      });
    },
  };
}

function checkToken(call: Call, tokens: readonly TokenEntry[], nowMs: number): void {
  const header = call.request.headers.get('authorization');
  if (header === null) throw new Refusal(99991661, 'Missing access token for authorization.', 400);
  const token = header.replace(/^Bearer\s+/i, '');
  if (!/^[tu]-/.test(token)) throw new Refusal(99991671, 'token must start with t- or u-', 400);
  if (!tokens.some((entry) => entry.token === token && entry.expiresAtMs > nowMs)) {
    throw new Refusal(
      99991663,
      'Invalid access token for authorization. Please make a request with token attached.',
      400,
    );
  }
}

function takeQuota(world: World): void {
  const { controls } = world;
  if (controls.quotaLeft === undefined) return;
  if (controls.quotaLeft <= 0) throw new Refusal(99991403, "This month's API call quota has been exceeded", 400);
  controls.quotaLeft -= 1;
}

class RateRefusal extends Error {
  override readonly name = 'RateRefusal';
  readonly limit: number;
  readonly resetS: number;

  constructor(limit: number, resetS: number) {
    super('request trigger frequency limit');
    this.limit = limit;
    this.resetS = resetS;
  }

  toResponse(): Response {
    return jsonResponse({ code: 99991400, msg: this.message }, 429, {
      'x-ogw-ratelimit-limit': String(this.limit),
      'x-ogw-ratelimit-reset': String(this.resetS),
    });
  }
}

function takeRate(
  windows: Map<string, { second: number; count: number }>,
  endpoint: { name: string; perSecond: number },
  nowMs: number,
): void {
  const second = Math.floor(nowMs / 1000);
  const window = windows.get(endpoint.name);
  if (window === undefined || window.second !== second) {
    windows.set(endpoint.name, { second, count: 1 });
    return;
  }
  window.count += 1;
  if (window.count > endpoint.perSecond) throw new RateRefusal(endpoint.perSecond, 1);
}

export function param(call: Call, name: string): string {
  return call.params[name] ?? '';
}

/** The request's JSON; sending none at all is 9499. */
export function requireJson(call: Call): unknown {
  const value = call.json();
  if (value === undefined) throw new Refusal(9499, 'Bad Request: invalid or missing JSON body', 400);
  return value;
}
