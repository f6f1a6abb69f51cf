import type { JsonObject, Result } from '../kernel/index.ts';

/**
 * What the platform answered when it did not do what was asked. `code` is Feishu's (0: no answer at all). `outcome`:
 * `refused` (surely not done), `unknown` (may have been done: timeout, reset, 1255040 …). `class` is what to do about it.
 */
export interface FeishuFailure {
  readonly code: number;
  readonly httpStatus: number;
  readonly message: string;
  /** Feishu's log id, for its support. */
  readonly logId?: string;
  readonly outcome: 'refused' | 'unknown';
  readonly class:
    | 'retry'
    | 'throttled'
    | 'conflict'
    | 'gone'
    | 'permission'
    | 'schema'
    | 'quota'
    | 'credential'
    | 'too-large'
    | 'invalid'
    | 'foreign-attachment'
    | 'config';
  readonly retryAfterMs?: number;
}

export type FeishuResult<T> = Result<T, FeishuFailure>;

/** A table of a base; `appToken` is the resolved object token, never a wiki node. */
export interface TableRef {
  readonly appToken: string;
  readonly tableId: string;
}

export interface FieldInfo {
  readonly fieldId: string;
  readonly name: string;
  readonly type: number;
  readonly uiType?: string;
  readonly isPrimary?: boolean;
  readonly property?: JsonObject;
}

/** A row as read: raw cells by column name, absent where empty. */
export interface RawRecord {
  readonly recordId: string;
  readonly fields: JsonObject;
  readonly createdById?: string;
  readonly lastModifiedById?: string;
  readonly lastModifiedAt?: number;
}

export interface RecordWrite {
  readonly recordId: string;
  /** Column → cell in its write shape; null clears. */
  readonly fields: JsonObject;
}

export interface UploadSource {
  readonly name: string;
  readonly sizeBytes: number;
  /** A fresh stream of the bytes from `offset`, for each try; `memory` may be filled with them, its pieces then be views of it. */
  open(offset: number, length: number, memory?: Uint8Array): AsyncIterable<Uint8Array>;
  /** Names the content (its hash), so that an upload in parts can go on where a crash ended it. */
  readonly resumeKey?: string;
}

export interface NewField {
  readonly name: string;
  readonly type: number;
  readonly uiType?: string;
  readonly property?: JsonObject;
  readonly description?: string;
}

/**
 * The platform client: each call is one operation with its own deadline; tokens, spacing of media calls and counting of
 * calls are inside. Retries of what is surely not done and safe (throttle, token) are inside too, bounded; nothing with an
 * unknown outcome is repeated here.
 */
export interface FeishuClient {
  /** A base token, a base link or a wiki link → the base's own token. */
  resolveBase(tokenOrLink: string, signal?: AbortSignal): Promise<FeishuResult<string>>;
  /** All pages. */
  listTables(
    appToken: string,
    signal?: AbortSignal,
  ): Promise<FeishuResult<readonly { tableId: string; name: string }[]>>;
  listFields(table: TableRef, signal?: AbortSignal): Promise<FeishuResult<readonly FieldInfo[]>>;
  createTable(
    appToken: string,
    name: string,
    fields: readonly NewField[],
    signal?: AbortSignal,
  ): Promise<FeishuResult<string>>;
  createField(table: TableRef, field: NewField, signal?: AbortSignal): Promise<FeishuResult<string>>;
  /** One search, all pages followed (stops with an error on a repeated page token). */
  searchRecords(
    table: TableRef,
    query: {
      readonly filter?: JsonObject;
      readonly fieldNames?: readonly string[];
      readonly automaticFields?: boolean;
    },
    signal?: AbortSignal,
  ): Promise<FeishuResult<readonly RawRecord[]>>;
  /** Fresh reads by id, in chunks of 100. */
  getRecords(
    table: TableRef,
    recordIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<FeishuResult<{ records: readonly RawRecord[]; absent: readonly string[]; forbidden: readonly string[] }>>;
  /** One batch of at most 500, all or nothing. */
  updateRecords(table: TableRef, writes: readonly RecordWrite[], signal?: AbortSignal): Promise<FeishuResult<void>>;
  createRecords(
    table: TableRef,
    rows: readonly JsonObject[],
    signal?: AbortSignal,
  ): Promise<FeishuResult<readonly string[]>>;
  deleteRecord(table: TableRef, recordId: string, signal?: AbortSignal): Promise<FeishuResult<void>>;
  /** One part up to 20 MiB, 4 MiB parts above; one at a time. The token is good in this base only. */
  uploadMedia(appToken: string, source: UploadSource, signal?: AbortSignal): Promise<FeishuResult<string>>;
  /** The bytes of an attachment; `permission` is needed under advanced permissions. */
  downloadMedia(
    attachment: {
      readonly fileToken: string;
      readonly permission?: { readonly tableId: string; readonly fieldId: string; readonly recordId: string };
    },
    signal?: AbortSignal,
  ): Promise<FeishuResult<AsyncIterable<Uint8Array>>>;
  /** `uuid` (at most 50) makes a repeat within an hour harmless. */
  sendText(
    to: { readonly chatId: string } | { readonly openId: string },
    text: string,
    uuid: string,
    signal?: AbortSignal,
  ): Promise<FeishuResult<void>>;
  /** Subscribes the base's record events; once is enough, again is harmless. */
  subscribeBase(appToken: string, signal?: AbortSignal): Promise<FeishuResult<void>>;
  /** Calls since the counter was last taken, by endpoint, for the monthly budget; taking resets. */
  takeCallCounts(): Readonly<Record<string, number>>;
}

/** An edit that the long connection told of. */
export interface WakeEvent {
  readonly eventId: string;
  readonly tableId: string;
  /** The base, as the subscription names it. */
  readonly appToken?: string;
  readonly operatorId?: string;
  /** Counts the edits of its base; events need not arrive in this order. */
  readonly revision?: number;
  /** The edit was this app's own, as far as its open id is known. */
  readonly isOwn?: boolean;
  readonly records: readonly {
    readonly recordId: string;
    readonly action: string;
    readonly fieldIds: readonly string[];
    /** Field id → cell after the edit, in the shape that events carry. */
    readonly after?: JsonObject;
  }[];
}

/** The long connection as a port: it only wakes the tick. */
export interface WakeSource {
  start(onWake: (event: WakeEvent) => void): Promise<void>;
  /** Proven alive within the last liveness window. */
  isAlive(): boolean;
  lastEventAtMs(): number | undefined;
  stop(): Promise<void>;
}
