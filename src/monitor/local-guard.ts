/**
 * Who may ask the local server. It listens on loopback, but a browser on this machine also shows other people's pages:
 * a foreign `Origin` or a `Host` that is not this machine (DNS rebinding) is refused, as is everything but reading.
 */
export function refusal(request: Request): string | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return 'only GET is served here';
  const host = request.headers.get('host') ?? new URL(request.url).host;
  if (!isLocal(host)) return 'this server answers to 127.0.0.1 and localhost only';
  const origin = request.headers.get('origin');
  if (origin !== null && origin !== `http://${host}`) return 'asked from another site';
  const site = request.headers.get('sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') return 'asked from another site';
  return undefined;
}

function isLocal(host: string): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/.test(host);
}

/** Sent with every answer, beside the page's own policy. */
export const guardHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
