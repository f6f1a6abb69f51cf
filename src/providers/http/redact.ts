/** An address for the log: without user, query and fragment, where tokens and signatures live. */
export function redactUrl(address: string): string {
  const url = URL.parse(address);
  if (url === null) return '[not an address]';
  return `${url.protocol}//${url.host}${url.pathname}${url.search === '' ? '' : '?…'}`;
}

/** Longest vendor text that goes into evidence and messages. */
const longestText = 500;

/** No more than this is looked at: an answer may have megabytes, and none of what lies behind is ever shown. */
const longestRead = 8_000;

/** Words of a vendor, fit for log and evidence: one line, shortened, keys and signed queries masked. */
export function maskText(text: string, secrets: readonly string[] = []): string {
  let masked = text.slice(0, longestRead);
  for (const secret of secrets) if (secret.length >= 6) masked = masked.replaceAll(secret, '[secret]');
  masked = masked
    .replace(
      /\b(bearer|key|token|secret|authorization|password|apikey|api_key)(["']?\s*[:=]\s*["']?|\s+)[\w.~+/-]{8,}=*/gi,
      '$1 [secret]',
    )
    .replace(/\b(sk|pk|ak)-[\w-]{8,}/gi, '[secret]')
    .replace(/(https?:\/\/[^\s"'<>?]+)\?[^\s"'<>]+/g, '$1?…')
    .replace(/\s+/g, ' ')
    .trim();
  const letters = Array.from(masked);
  return letters.length > longestText ? `${letters.slice(0, longestText).join('')}…` : masked;
}
