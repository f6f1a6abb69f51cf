import type { Clock, Fetch, IdSource, JsonObject, Logger, Money, Result, Secret } from '../kernel/index.ts';
import type { Artifact } from './artifact.ts';
import type { CapabilityId } from './capability.ts';
import type { ModelSettings } from './config.ts';
import type { Failure } from './failure.ts';

/**
 * The adapter interface: single shots, no loops, no sleeps, no retries, no environment. The engine decides when each is
 * called. A paid call goes: `prepare` (free: checks limits, uploads inputs, builds the body), then the engine commits the
 * intent, then `submit` (sends that body, once), then `poll` until a verdict.
 */
export interface Adapter {
  /** Unique name, `vendor.dialect`: `kie.market`, `kie.veo`, `toapis.image`, `openai-chat`. Stored with each handle. */
  readonly implementation: string;
  /** Raised when the meaning of stored handles or prepared requests changes. */
  readonly version: number;
  readonly capabilities: readonly CapabilityId[];
  /** Free of charge. Refuses what the model cannot do, before anything is paid. `call.key` names the purchase. */
  prepare(call: PrepareCall, signal: AbortSignal): Promise<Result<PreparedRequest, Failure>>;
  /** Sends the prepared request exactly once. Never throws for what a vendor or the network can do. */
  submit(request: PreparedRequest, signal: AbortSignal): Promise<SubmitOutcome>;
  /** One status check. */
  poll?(handle: JsonObject, signal: AbortSignal): Promise<PollOutcome>;
  /** Looks up a submit whose answer was lost, by what the vendor lets us ask for. Absent where it cannot be asked. */
  find?(request: PreparedRequest, signal: AbortSignal): Promise<FindOutcome>;
  /** The handle for a task id that a person read at the vendor (`gridloom resolve --accepted`). `request` as stored. */
  handleFor?(taskId: string, request: JsonObject): JsonObject;
  /** Asks the vendor to stop. `gone` when it has already ended. */
  cancel?(handle: JsonObject, signal: AbortSignal): Promise<CancelOutcome>;
}

export interface PrepareCall {
  /** Stable over crashes and restarts: execution, node, attempt. Sent as the client id where a vendor has one. */
  readonly key: string;
  readonly capability: CapabilityId;
  readonly model: ModelSettings;
  /** Parsed by the capability's input schema. */
  readonly input: JsonObject;
}

/** JSON, stored with the intent; `body` is what `submit` sends. Holds no secret. Parsed again by the adapter when read. */
export interface PreparedRequest {
  readonly implementation: string;
  readonly version: number;
  readonly key: string;
  readonly model: string;
  readonly capability: CapabilityId;
  readonly body: JsonObject;
  /** What had to be changed to fit the model, in words for staff (a Mark `adjusted`). */
  readonly adjustments?: readonly string[];
  /**
   * Where the vendor keeps no key of ours and `find` goes by what a task shows: a digest of all that it shows. The tasks of
   * two calls with one likeness cannot be told apart. Absent where `find` goes by the key, or there is none.
   */
  readonly likeness?: string;
}

/** What a call cost, as far as the vendor says; prices are applied by the engine. */
export interface ReportedCost {
  /** The vendor's own figure for this call. */
  readonly amount?: Money;
  /** Quantities that a price table can be applied to: `inputTokens`, `outputTokens`, `cachedInputTokens`, `images`, `seconds`, `calls`. */
  readonly usage?: Readonly<Record<string, number>>;
}

export type SubmitOutcome =
  | { readonly kind: 'accepted'; readonly handle: JsonObject }
  | { readonly kind: 'completed'; readonly output: JsonObject; readonly cost: ReportedCost }
  /** The vendor said no in a way that the adapter lists as a refusal, or the request never left. Nothing was bought. */
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** Accepted and ended badly within the submit itself (a chat answer that was moderated, say): the bill stands. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly cost: ReportedCost }
  | { readonly kind: 'unknown'; readonly failure: Failure };

export type PollOutcome =
  | { readonly kind: 'running'; readonly statusWord: string; readonly progressPct?: number }
  | { readonly kind: 'succeeded'; readonly output: JsonObject; readonly cost: ReportedCost }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly cost: ReportedCost }
  | { readonly kind: 'expired'; readonly failure: Failure }
  | { readonly kind: 'canceled'; readonly cost: ReportedCost }
  /** Not there (yet): counts only after a grace and several misses. */
  | { readonly kind: 'not-visible' }
  /** A word this adapter does not know: unfinished until the deadline, counted and alarmed. */
  | { readonly kind: 'unrecognised'; readonly statusWord: string }
  /** The check itself failed; it says nothing about the task. */
  | { readonly kind: 'check-failed'; readonly failure: Failure };

export type FindOutcome =
  | { readonly kind: 'found'; readonly handle: JsonObject }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'check-failed'; readonly failure: Failure };

export type CancelOutcome =
  | { readonly kind: 'canceled'; readonly cost?: ReportedCost }
  | { readonly kind: 'not-cancelable' }
  | { readonly kind: 'check-failed'; readonly failure: Failure };

/** What is left in an account: the field that truly runs out. */
export interface Balance {
  readonly provider: string;
  readonly remaining: Money;
  /** The vendor's own verdict, where it gives one. */
  readonly usable?: boolean;
}

/** What a vendor takes of a picture. A picture outside of it is scaled down and made a JPEG. */
export interface PictureLimits {
  readonly maxSidePx: number;
  readonly maxBytes: number;
  readonly mimes: readonly string[];
}

export interface FittedPicture {
  readonly bytes: Uint8Array;
  readonly mime: string;
}

/** The files of a call, by content. Adapters read bytes here to upload or inline them. */
export interface MediaSource {
  /** Bytes of an artifact; fails with `storage` when the spool no longer holds it. */
  read(artifact: Artifact, signal: AbortSignal): Promise<Result<Uint8Array, Failure>>;
  /** A copy within limits (the file itself where it fits); absent or failing: adapters take `read`. */
  fitPicture?(artifact: Artifact, limits: PictureLimits, signal: AbortSignal): Promise<Result<FittedPicture, Failure>>;
  /** Keeps bytes that came inside an answer (base64), sniffs and checks them. */
  keep(bytes: Uint8Array, nameHint: string): Promise<Result<Artifact, Failure>>;
}

/** An account at a vendor, from `config/providers.yaml` and the environment. */
export interface ProviderAccount {
  readonly id: string;
  readonly baseUrl: string;
  readonly uploadBaseUrl?: string;
  readonly key: Secret;
  /** `direct`, `env` or a proxy URL. */
  readonly proxy: string;
}

export interface ProviderTimeouts {
  readonly connectMs: number;
  readonly submitMs: number;
  readonly queryMs: number;
  readonly textMs: number;
}

export interface ProviderDeps {
  readonly account: ProviderAccount;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly media: MediaSource;
  readonly timeouts: ProviderTimeouts;
}

/** What a vendor folder exports: its adapters for one account, and its balance where it can be asked. */
export interface Provider {
  readonly account: string;
  readonly adapters: readonly Adapter[];
  balance?(signal: AbortSignal): Promise<Result<Balance, Failure>>;
  /** A fresh address of the vendor's own file, asked for right before a download; undefined when it is not theirs. */
  freshLink?(url: string, signal: AbortSignal): Promise<string | undefined>;
}

export type ProviderFactory = (deps: ProviderDeps) => Provider;
