import { type AgentTable, createTableSide, type TableSide } from '../bitable/index.ts';
import type { LoadedConfig } from '../config/index.ts';
import type { Engine } from '../engine/ports/index.ts';
import type { CallBudget, FeishuClient } from '../feishu/index.ts';
import type { Ports } from './ports.ts';
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
  const create = (of: readonly AgentTable[], messageCollection?: string): TableSide =>
    createTableSide({
      client: feishu,
      engine,
      ...ports,
      settings: config.settings,
      agents: of,
      callBudget,
      ...(alertChatId === undefined ? {} : { alertChatId }),
      confirmSetting: (name) => switches[name] === true,
      wakeIsAlive,
      timeZone: timezone,
      ...(messageCollection === undefined ? {} : { messageCollection }),
    });
  const { scale } = ports;
  if (scale === undefined) return create(agents);
  return createLeasedTables({
    ...ports,
    scale,
    agents,
    monthlyBudget: config.settings.feishu.monthly_call_budget,
    create: (base, of) => create(of, `bitable-message/${base}`),
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
