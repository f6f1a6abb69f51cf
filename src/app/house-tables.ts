import { type AgentTable, createTableSide, type TableSide } from '../bitable/index.ts';
import type { LoadedConfig } from '../config/index.ts';
import type { Engine } from '../engine/ports/index.ts';
import type { CallBudget, FeishuClient } from '../feishu/index.ts';
import type { Lease } from '../store/index.ts';
import type { Ports } from './ports.ts';
import { guardActing } from './scale-guard.ts';
import { createLeasedTables, type HouseTables } from './scale-tables.ts';

/** One table side for all bases; or, among several workers, one for each base that this worker holds. */
export function createTables(parts: {
  readonly config: LoadedConfig;
  readonly ports: Ports;
  readonly engine: Engine;
  readonly feishu: FeishuClient;
  readonly callBudget: CallBudget;
  readonly agents: readonly AgentTable[];
}): HouseTables {
  const { config, ports, feishu, engine, callBudget, agents } = parts;
  const { alertChatId, switches, timezone } = config.environment;
  const wakeIsAlive = createProvenAlive(config, ports);
  const acting = { store: ports.store, client: feishu, engine };
  const create = (of: readonly AgentTable[], held?: { readonly base: string; readonly lease: Lease }): TableSide =>
    createTableSide({
      ...ports,
      ...(held === undefined ? acting : guardActing(acting, held.lease)),
      settings: config.settings,
      agents: of,
      callBudget,
      ...(alertChatId === undefined ? {} : { alertChatId }),
      confirmSetting: (name) => switches[name] === true,
      wakeIsAlive,
      timeZone: timezone,
      ...(held === undefined ? {} : { messageCollection: `bitable-message/${held.base}` }),
    });
  const { scale } = ports;
  if (scale === undefined) return create(agents);
  return createLeasedTables({
    ...ports,
    scale,
    agents,
    monthlyBudget: config.settings.feishu.monthly_call_budget,
    create: (base, of, lease) => create(of, { base, lease }),
  });
}

/**
 * Alive counts only when it has been so for a whole interval: what was typed while the link was down is told by nobody, so
 * one search must follow each connection.
 */
function createProvenAlive(config: LoadedConfig, ports: Ports): () => boolean {
  let aliveSinceMs: number | undefined;
  return () => {
    const isAlive = ports.wakeSource?.isAlive() === true;
    aliveSinceMs = isAlive ? (aliveSinceMs ?? ports.clock.monotonicMs()) : undefined;
    return aliveSinceMs !== undefined && ports.clock.monotonicMs() - aliveSinceMs > config.settings.poll.interval;
  };
}
