/**
 * Brings a configured base address into one shape: no trailing slash, no query, none of `endings` (`/v1`,
 * `/chat/completions`) at its end, so that `${base}/v1/…` is right however it was written.
 */
export function normaliseBaseUrl(baseUrl: string, endings: readonly string[] = []): string {
  let base = baseUrl
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '');
  for (let changed = true; changed; ) {
    const ending = endings.find((each) => base.toLowerCase().endsWith(each));
    changed = ending !== undefined;
    if (ending !== undefined) base = base.slice(0, base.length - ending.length).replace(/\/+$/, '');
  }
  return base;
}

/**
 * The address of an OpenAI-compatible API, version path included. A bare host gets `/v1`, which every known vendor
 * accepts; any other path is taken as it is.
 */
export function normaliseChatBaseUrl(baseUrl: string): string {
  const base = normaliseBaseUrl(baseUrl, ['/chat/completions', '/chat']);
  return URL.parse(base)?.pathname === '/' ? `${base}/v1` : base;
}
