import { Secret } from '../kernel/index.ts';

const redactedMark = '[secret]';

/** Members whose value is never written, wherever they stand. */
const secretNames =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api[-_]?key|app[-_]?secret|secret|token|access[-_]?token|tenant[-_]?access[-_]?token|password|passwd|ticket)$/i;
/** Query members that sign a link: with them, it can be opened by anyone who reads the log. */
const signedLink =
  /([?&](?:[^=&\s"']*(?:signature|sig|token|key|secret|credential|code|expires|auth_key)[^=&\s"']*)=)[^&\s"'#]+/gi;
const bearer = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/g;
const phone = /(?<!\d)1[3-9]\d{9}(?!\d)/g;

/** Shorter values would black out ordinary words. */
const shortestSecret = 6;

export interface Redactor {
  /** Every later line is cleaned of this value (and of its URL-encoded and base64 forms). */
  register(secret: Secret): void;
  text(line: string): string;
  /** For whole JSON lines: only what cannot hit a number. */
  line(line: string): string;
  /** A copy that is fit to be written: members by name, strings by value, depth and size bounded, errors by their fields. */
  value(value: unknown): unknown;
}

export function createRedactor(secrets: readonly Secret[]): Redactor {
  const values = new Set<string>();
  let pattern: RegExp | undefined;
  const register = (secret: Secret): void => {
    const plain = secret.reveal();
    if (plain.length < shortestSecret) return;
    for (const form of [plain, encodeURIComponent(plain), Buffer.from(plain).toString('base64').replace(/=+$/, '')])
      values.add(form);
    // Written inside JSON, quotes and backslashes are escaped.
    values.add(JSON.stringify(plain).slice(1, -1));
    const longestFirst = [...values].sort((left, right) => right.length - left.length);
    pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  };
  for (const secret of secrets) register(secret);
  const line = (whole: string): string => {
    const known = pattern === undefined ? whole : whole.replace(pattern, redactedMark);
    return known.replace(bearer, `$1 ${redactedMark}`).replace(signedLink, `$1${redactedMark}`);
  };
  const text = (part: string): string => line(part).replace(phone, '[phone]');
  return { register, text, line, value: (value) => clean(value, text, 0) };
}

const deepest = 6;
const mostMembers = 50;
const longestString = 2_000;

function clean(value: unknown, text: (line: string) => string, depth: number): unknown {
  if (typeof value === 'string')
    return text(value.length > longestString ? `${value.slice(0, longestString)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined) return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object') return `[${typeof value}]`;
  if (depth >= deepest) return '[deep]';
  if (value instanceof Error) return cleanError(value, text, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, mostMembers).map((member) => clean(member, text, depth + 1));
  if (value instanceof Secret) return redactedMark;
  if (value instanceof Date) return value.toISOString();
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostMembers)
      .map(([name, member]) => [name, secretNames.test(name) ? redactedMark : clean(member, text, depth + 1)]),
  );
}

/** Only what we know of an error: foreign ones (HTTP clients) carry requests, headers and bodies. */
function cleanError(error: Error, text: (line: string) => string, depth: number): unknown {
  return {
    name: error.name,
    message: text(error.message),
    stack: text(error.stack ?? '').slice(0, longestString),
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...(error.cause === undefined ? {} : { cause: clean(error.cause, text, depth + 1) }),
  };
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
