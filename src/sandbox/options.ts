import type { Clock, JsonObject, Random } from '../kernel/index.ts';
import type { BlobStore } from './blobs.ts';
import type { Books } from './books.ts';
import type { LongConnectionDoor } from './feishu/long-connection.ts';
import type { FaultPort } from './faults.ts';
import type { Latencies } from './latency.ts';
import type { Painter } from './painter/painter.ts';
import type { TableDoor } from './table-door.ts';
import type { Controls, Person, RecordChange } from './world.ts';

/** A column of a table to be made. `type` is Feishu's number; `options` are those of a select. */
export interface ColumnSpec {
  readonly name: string;
  readonly type: number;
  readonly options?: readonly string[];
  readonly description?: string;
}

/** A table of the default world; with `rows` it is filled once, when the world is new. */
export interface TableSpec {
  readonly name: string;
  readonly tableId: string;
  readonly columns: readonly ColumnSpec[];
  readonly rows?: readonly RowSpec[];
}

/** A sample row: texts and numbers as they are written, pictures by the name of a drawing (`sampleNames`). */
export interface RowSpec {
  readonly cells?: JsonObject;
  readonly pictures?: Readonly<Record<string, readonly string[]>>;
}

export interface SandboxOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How links name this world, without a trailing slash: `http://127.0.0.1:7010`. A function where the port comes later. */
  readonly baseUrl: string | (() => string);
  /** Tables of the default base. */
  readonly tables: readonly TableSpec[];
  /** Default: `sandboxAppToken`. */
  readonly appToken?: string;
  /** Default: the one that draws for people. Simulations take `createPlainPainter()`. */
  readonly painter?: Painter;
  readonly blobs?: BlobStore;
  readonly latencies?: Latencies;
  readonly people?: readonly Person[];
  /** Vendor → the only key that it takes. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Called after each change that a restart should remember; the app persists `snapshot()` some time later. */
  readonly onChange?: () => void;
}

export interface Sandbox {
  /** The whole outside world. Rejects with a TransportError where a real connection would break. */
  fetch(request: Request): Promise<Response>;
  baseUrl(): string;
  readonly appToken: string;
  readonly books: Books;
  readonly faults: FaultPort;
  readonly controls: Controls;
  readonly table: TableDoor;
  readonly platform: PlatformDoor;
  readonly longConnection: LongConnectionDoor;
  /** The state as JSON; media lie in the BlobStore. */
  snapshot(): JsonObject;
  /** Throws on a snapshot that is not one. */
  restore(snapshot: unknown): void;
  /** Makes the default world where there is none: tables that are missing, and their sample rows. */
  seed(): Promise<void>;
}

/** Switches of the open platform that are not latencies. */
export interface PlatformDoor {
  expireTokens(): void;
  setAppRole(role: 'none' | 'reader' | 'editor' | 'manager', appToken?: string): void;
  setAdvancedPermission(on: boolean, appToken?: string): void;
  hideColumn(tableId: string, column: string, hidden: boolean): void;
  setWikiToken(wikiToken: string, appToken?: string): void;
  setFunds(vendor: string, units: number): void;
  /** Record changes as the long connection tells them; returns the way to stop listening. */
  onRecordChanged(listener: (change: RecordChange) => void): () => void;
}
