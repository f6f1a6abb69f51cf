import type { Adapter } from '../../contract/index.ts';
import { advance } from '../call/advance.ts';
import { tellLateResult } from '../call/late-result.ts';
import type { Services } from '../call/services.ts';
import { createWatcher } from '../call/watch.ts';
import type { EngineDeps } from '../deps.ts';
import { createBreakers } from '../policy/breaker.ts';
import { createBudgets } from '../policy/budget.ts';
import { createGates, type GateLimits, parseRate } from '../policy/gates.ts';
import { createPricer } from '../policy/pricing.ts';
import { createTimers } from './timers.ts';

/** The engine's own switches, as its services see them. */
export interface Switches {
  isPaused: boolean;
  isStopping: boolean;
  /** Work under way that a drain waits for. */
  working: number;
  onIdle: (() => void) | undefined;
}

export function createServices(deps: EngineDeps, switches: Switches, signal: AbortSignal): Services {
  const services: Services = {
    deps,
    timers: createTimers(deps.clock),
    gates: createGates(gateLimits(deps), deps.clock),
    breakers: createBreakers(),
    budgets: createBudgets({
      limits: deps.settings.limits,
      store: deps.store,
      clock: deps.clock,
      timeZone: deps.timeZone ?? 'Asia/Shanghai',
    }),
    pricer: createPricer(deps.settings.money),
    signal,
    isPaused: () => switches.isPaused,
    isStopping: () => switches.isStopping,
    pausedCalls: new Set(),
    providerWaiters: new Set(),
    watcher: createWatcher(
      () => services,
      (watched) => {
        if (watched.call !== undefined && watched.call.state !== 'ended') advance(services, watched.call);
        else if (watched.live.record.state === 'succeeded') void services.track(tellLateResult(services, watched.live));
      },
    ),
    advance: (call) => {
      advance(services, call);
    },
    adapter: adapterLookup(deps),
    track: async (work) => {
      switches.working += 1;
      try {
        await work;
      } catch (error) {
        if (!signal.aborted) deps.logger.error('work of the engine failed', { error: String(error) });
      } finally {
        switches.working -= 1;
        if (switches.working === 0) switches.onIdle?.();
      }
    },
    beside: { count: 0 },
    warned: new Set(),
  };
  return services;
}

function adapterLookup(deps: EngineDeps): Services['adapter'] {
  const known = new Map<string, Map<string, Adapter>>();
  for (const [name, provider] of deps.providers) {
    known.set(name, new Map(provider.adapters.map((adapter) => [adapter.implementation, adapter])));
  }
  return (provider, implementation) => known.get(provider)?.get(implementation);
}

/** Names at the gates: `provider:kie`, `model:kie/veo3`, `agent:try-on`. The operator's limits come before the file's. */
function gateLimits(deps: EngineDeps): GateLimits {
  const { limits } = deps.settings;
  const split = (name: string): readonly [string, string] => {
    const at = name.indexOf(':');
    return [name.slice(0, at), name.slice(at + 1)];
  };
  return {
    concurrency: (name) => {
      const [kind, rest] = split(name);
      if (kind === 'agent') return limits.concurrency[rest];
      const { providers } = deps.definitions();
      if (kind === 'provider') return limits.concurrency[rest] ?? providers.get(rest)?.concurrency;
      const slash = rest.indexOf('/');
      return providers.get(rest.slice(0, slash))?.models[rest.slice(slash + 1)]?.concurrency;
    },
    rate: (name) => {
      const [kind, rest] = split(name);
      if (kind !== 'provider') return undefined;
      const text = limits.rate[rest] ?? deps.definitions().providers.get(rest)?.rate;
      return text === undefined ? undefined : parseRate(text);
    },
  };
}
