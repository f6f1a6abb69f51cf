import type { EngineDeps, SideFile } from '../engine/index.ts';
import type { Store } from '../engine/ports/index.ts';
import type { WakeSource } from '../feishu/index.ts';
import type { Clock, Failpoints, Fetch, IdSource, Logger, Random } from '../kernel/index.ts';
import type { Knowledge, PictureWorker } from '../functions/index.ts';
import type { Spool } from '../media/index.ts';
import type { MonitorFiles } from '../monitor/index.ts';
import type { Scale } from './scale.ts';

/**
 * The whole outside world as arguments: what `assemble` needs to build the house. Production gives live ones
 * (`live-ports.ts`), the simulator virtual ones; between the two nothing differs.
 */
export interface Ports {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  readonly failpoints: Failpoints;
  readonly logger: Logger;
  readonly fetch: Fetch;
  readonly store: Store;
  readonly spool: Spool;
  readonly pictures: PictureWorker;
  /** The team's own documents, for `knowledge.search`. */
  readonly knowledge: Knowledge;
  readonly sideFile: SideFile;
  /** Where the page's files go; absent: no metrics are written. */
  readonly monitorFiles?: MonitorFiles;
  readonly freeBytes: () => Promise<number>;
  /** This process, in `owner` of executions. */
  readonly owner: string;
  readonly isGone?: NonNullable<EngineDeps['isGone']>;
  readonly peers?: NonNullable<EngineDeps['peers']>;
  /** This worker's place among several on one database; absent: it is alone. */
  readonly scale?: Scale;
  /** This installation, in 执行编号. */
  readonly instanceTag: string;
  /** The long connection; absent: polling alone. */
  readonly wakeSource?: WakeSource;
}
