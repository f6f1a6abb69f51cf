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

/** Room at vendors that all workers share, counted in the store they share. */
export interface SharedRooms {
  /** False when all `cap` places are taken. What a claim holds already is no second place. */
  claim(room: string, cap: number, claim: string): Promise<boolean>;
  /** Gives back every place of the claim, whichever worker took it. */
  release(claim: string): Promise<void>;
}

/** The other workers on the same store, as one of them knows them. An engine that has no peers is alone. */
export interface Peers {
  /** Its process lives and has stopped moving: what needs no answer from it may be taken over. */
  isFrozen(owner: string): Promise<boolean>;
  /** Whether this worker's own sign of life is held, as far as it knows now. No request may leave without it. */
  isPresent(): boolean;
  readonly rooms?: SharedRooms;
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
  /** Other workers on the same store. With them, a submission is left for whichever worker takes it up. */
  readonly peers?: Peers;
  /** Free bytes on the disk of the data directory. */
  readonly freeBytes: () => Promise<number>;
  readonly sideFile: SideFile;
  /** IANA zone in which a day of the budgets begins. Default Asia/Shanghai. */
  readonly timeZone?: string;
}
