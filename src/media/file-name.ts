/** Feishu takes at most 250 characters; counted in UTF-16 units here, which is never less. */
const maxNameLength = 250;
const segmenter = new Intl.Segmenter('zh', { granularity: 'grapheme' });

/**
 * A safe file name with the extension of the bytes. From a hint (a title, or an address's last part) it drops folders,
 * query, control characters, quotes and backslashes; Chinese and emoji stay as they are. Too long names are cut between
 * graphemes and get `tag` (from the hash), so that two long titles do not become one name.
 */
export function safeFileName(nameHint: string, extension: string, tag: string): string {
  const base = lastPart(nameHint)
    .normalize('NFC')
    .replace(/[\u0000-\u001f\u007f"'\\/:*?<>|]/g, '')
    .replace(/^\.+/, '')
    .trim();
  const stem = base.replace(/\.[A-Za-z0-9]{1,5}(![\w-]+)?$/, '').trim();
  const name = stem === '' ? tag : stem;
  const limit = maxNameLength - extension.length - 1;
  if (name.length <= limit) return `${name}.${extension}`;
  return `${cutGraphemes(name, limit - tag.length - 1)}-${tag}.${extension}`;
}

function lastPart(hint: string): string {
  const path = /^https?:\/\//i.test(hint) ? (URL.parse(hint)?.pathname ?? '') : hint;
  const last = /^https?:\/\//i.test(hint) ? path.split('/').at(-1) : path;
  try {
    return decodeURIComponent(last ?? '');
  } catch {
    return last ?? '';
  }
}

function cutGraphemes(text: string, limit: number): string {
  let cut = '';
  for (const { segment } of segmenter.segment(text)) {
    if (cut.length + segment.length > limit) break;
    cut += segment;
  }
  return cut;
}
