import type { Logger, Secret } from '../kernel/index.ts';
import type { SdkLogger } from './sdk.ts';

const maxDetailChars = 300;

/**
 * A logger for the SDK that lets no secret through. The SDK hands whole error objects to its logger (with `app_secret` in a
 * request body, with the bearer header, with the socket's ticket in its address); here only plain words and error messages
 * are kept, shortened, with everything that looks like a credential struck out. Info and below are dropped.
 */
export function createSdkLogger(logger: Logger, secrets: readonly Secret[]): SdkLogger {
  const words = (parts: unknown): string => redact(flatten(parts).join(' '), secrets).slice(0, maxDetailChars);
  const nothing = (): void => undefined;
  return {
    error: (parts) => {
      logger.warn('feishu sdk reports an error', { detail: words(parts) });
    },
    warn: (parts) => {
      logger.debug('feishu sdk warns', { detail: words(parts) });
    },
    info: nothing,
    debug: nothing,
    trace: nothing,
  };
}

function flatten(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (value instanceof Error) return [value.message];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => flatten(item));
  return [];
}

const credentialPatterns = [
  /\b[tua]-[A-Za-z0-9._-]{10,}/g,
  /Bearer\s+\S+/gi,
  /((?:app_?secret|access_?key|ticket|token|authorization)["']?\s*[=:]\s*["']?)[^\s"'&,}]+/gi,
];

/** Strikes out the known secrets, then whatever has the look of one. */
export function redact(text: string, secrets: readonly Secret[]): string {
  let clean = text;
  for (const secret of secrets) {
    const value = secret.reveal();
    if (value !== '') clean = clean.replaceAll(value, '[secret]');
  }
  for (const pattern of credentialPatterns) {
    clean = clean.replace(pattern, (_whole, prefix: unknown) =>
      typeof prefix === 'string' ? `${prefix}[secret]` : '[secret]',
    );
  }
  return clean;
}
