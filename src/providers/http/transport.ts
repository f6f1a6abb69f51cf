import { TransportError } from '../../kernel/index.ts';

/**
 * Marks an error of the connecting stage (DNS, TCP, TLS, proxy tunnel). The connector wraps every one of its errors in
 * this, so that "did it leave?" is known from where the error arose, not guessed from its code: ECONNRESET in a TLS
 * handshake was not sent, the same code after the request may have been.
 */
export class ConnectStageError extends Error {
  override readonly name = 'ConnectStageError';
  readonly code: string;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.code = codeOf(cause);
  }
}

/** Codes that only the connecting stage gives; used for errors that come out of a proxy agent unmarked. */
const connectCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_TLS',
  'UND_ERR_PRX_CONN',
  'BLOCKED_ADDRESS',
  'UND_ERR_INVALID_ARG',
]);

/** Turns whatever the client library threw into the one error of the port. */
export function toTransportError(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if (current instanceof TransportError) return current;
    const code = codeOf(current);
    if (current instanceof ConnectStageError || connectCodes.has(code) || isProxyRefusal(current)) {
      return new TransportError('not-sent', code, `could not connect: ${current.message}`, { cause: error });
    }
    current = current.cause;
  }
  const message = error instanceof Error ? error.message : String(error);
  return new TransportError('maybe-sent', codeOf(error), `connection failed after sending: ${message}`, {
    cause: error,
  });
}

function isProxyRefusal(error: Error): boolean {
  return error.message.includes('when HTTP Tunneling');
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) {
    const inner: unknown = error.errors[0];
    const code = codeOf(inner);
    if (code !== 'UNKNOWN') return code;
  }
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof Error && error.cause instanceof Error) return codeOf(error.cause);
  return 'UNKNOWN';
}
