import type { Definitions, Provider, Settings } from '../contract/index.ts';
import type { Clock, Failpoints, IdSource, Logger, Random } from '../kernel/index.ts';
import type { Collector, NodeFunction, Store } from './ports/index.ts';

/**
 * An append-only file beside the database, preallocated and synced: a vendor's handle goes here when the store cannot
 * take it (disk full), and is read back at start. `append` is synchronous: when it returns, the line (one JSON
 * object) is on disk.
 */
export interface SideFile {
  append(line: string): void;
  readAll(): readonly string[];
  clear(): void;
}

/** Everything the engine is given; it reaches for nothing else. */
export interface EngineDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  readonly failpoints: Failpoints;
  readonly logger: Logger;
  readonly settings: Settings;
  /** The definitions as of now. Another object means: later executions use it; what runs keeps its plan. */
  readonly definitions: () => Definitions;
  /** Accounts that have a key, by the provider's name in `config/providers.yaml`. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Code behind `function` nodes, by name. */
  readonly functions: ReadonlyMap<string, NodeFunction>;
  readonly collector: Collector;
  /** Names this process in `owner`: an execution of another owner is taken up only when that one is gone. */
  readonly owner: string;
  /** Whether another owner is known to be gone. Default: everyone else is (one worker a data directory). */
  readonly isGone?: (owner: string) => Promise<boolean>;
  /** Free bytes on the disk of the data directory. */
  readonly freeBytes: () => Promise<number>;
  readonly sideFile: SideFile;
  /** IANA zone in which a day of the budgets begins. Default Asia/Shanghai. */
  readonly timeZone?: string;
}
