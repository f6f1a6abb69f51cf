import type { RemoteMedia } from '../../contract/index.ts';

/**
 * The usable addresses among what a vendor gave as results: http(s) only, relative ones resolved, doubles dropped. Ids,
 * empty texts and nulls in place of an address are no results.
 */
export function readMediaUrls(
  candidates: readonly unknown[],
  media: RemoteMedia['media'],
  baseUrl: string,
  expiresAt?: number,
): readonly RemoteMedia[] {
  const seen = new Set<string>();
  const found: RemoteMedia[] = [];
  for (const candidate of candidates) {
    if (typeof candidate !== 'string') continue;
    const text = candidate.trim();
    const url = /^https?:\/\//i.test(text) ? text : text.startsWith('/') ? resolve(text, baseUrl) : undefined;
    if (url === undefined || !URL.canParse(url) || seen.has(url)) continue;
    seen.add(url);
    found.push({ kind: 'remote', url, media, ...(expiresAt === undefined ? {} : { expiresAt }) });
  }
  return found;
}

function resolve(path: string, baseUrl: string): string | undefined {
  return URL.parse(path, baseUrl)?.href;
}
