/**
 * Who may see and change the table page: it stands open on a loopback port without a password, so a page of a foreign site
 * must reach nothing. The Host header has to be a loopback name (or the name that the world goes by), against DNS rebinding;
 * writes also need an Origin of the same host.
 */
export function hostAllowed(request: Request, ownOrigin: string): boolean {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return ['127.0.0.1', 'localhost', '[::1]', new URL(ownOrigin).hostname].includes(name);
}

export function originAllowed(request: Request): boolean {
  const origin = request.headers.get('origin');
  if (origin === null || !URL.canParse(origin)) return false;
  const host = request.headers.get('host') ?? new URL(request.url).host;
  return new URL(origin).host.toLowerCase() === host.toLowerCase();
}

export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: browsers then send `Origin: null` with the page's own writes.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** An attachment may be anything that someone uploaded: shown, never run. */
export const mediaHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=3600',
};
