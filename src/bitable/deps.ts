import type { AgentDefinition, Settings } from '../contract/index.ts';
import type { Engine, Store } from '../engine/ports/index.ts';
import type { CallBudget, FeishuClient, TableRef } from '../feishu/index.ts';
import type { Clock, Failpoints, IdSource, Logger, Random } from '../kernel/index.ts';
import type { Spool } from '../media/index.ts';

/** An agent with its table. Several may share a base; a table belongs to one agent. */
export interface AgentTable {
  readonly definition: AgentDefinition;
  readonly table: TableRef;
}

/** Everything that the table side is given. */
export interface TableSideDeps {
  readonly client: FeishuClient;
  readonly engine: Engine;
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  readonly logger: Logger;
  readonly failpoints: Failpoints;
  readonly settings: Settings;
  readonly agents: readonly AgentTable[];
  /** This installation's tag in 执行编号. */
  readonly instanceTag: string;
  /** Group for hints and results of rows whose submitter cannot be reached. */
  readonly alertChatId?: string;
  /** Switches that agents name in `confirm: {setting}` (`SB_CONFIRM`). */
  readonly confirmSetting: (name: string) => boolean;
  /** The long connection has been proven alive lately: the search may then be skipped. Default: never. */
  readonly wakeIsAlive?: () => boolean;
  /** The month's calls; its guard should have been given to the client. Default: one of our own over the store. */
  readonly callBudget?: CallBudget;
  /** Collection of the messages that wait; one of its own for a base among several workers. Default: one for all. */
  readonly messageCollection?: string;
  /** IANA zone of the times that staff read. Default Asia/Shanghai. */
  readonly timeZone?: string;
}

/** Seconds that cells of different urgency may wait for others to share their write, in milliseconds. */
export const patienceMs = {
  /** Clears of 操作 and what must be seen at once. */
  now: 0,
  /** What may wait a moment for company. */
  gather: 2_000,
  /** 进度 and 执行编号: nobody decides by them. */
  lazy: 20_000,
} as const;

/** Rows of one base that download inputs and are submitted at the same time: a base that is stuck stops no other. */
export const maxStarting = 4;
/** Results of one base that are uploaded and written at the same time. */
export const maxDelivering = 64;
