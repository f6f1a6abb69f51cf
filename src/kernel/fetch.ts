/** The request body forms that every implementation of the port carries; streams are for uploads from disk only. */
export type FetchBody = string | Uint8Array | AsyncIterable<Uint8Array>;

export interface FetchInit {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: FetchBody;
  readonly signal?: AbortSignal;
  /** Longest time to wait for a connection; passing it is a `not-sent` TransportError. */
  readonly connectTimeoutMs?: number;
  /** Whether a proxy of the environment may be used; default `direct`. A URL names one. */
  readonly proxy?: string;
  /** `download`: the address must be public (or in the allow list) after DNS; redirects are returned, never followed. */
  readonly purpose?: 'api' | 'download';
}

/**
 * The one fetch-shaped function. It sends exactly one request: no retry, no redirect followed, no cookie. It rejects only
 * with a TransportError, or with the signal's reason.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/**
 * The request got no HTTP answer. `not-sent`: it surely never reached the other side (DNS, refused or timed-out connect,
 * TLS handshake, blocked address). `maybe-sent`: it may have been read; for a paid call the outcome is unknown.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly phase: 'not-sent' | 'maybe-sent';
  /** Node or undici error code, for the log: ECONNREFUSED, UND_ERR_HEADERS_TIMEOUT … */
  readonly code: string;

  constructor(phase: 'not-sent' | 'maybe-sent', code: string, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.phase = phase;
    this.code = code;
  }
}
