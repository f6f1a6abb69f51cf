import { adler32 } from './adler32.ts';

/** Platform limit for a file's name, in characters. */
const maxNameChars = 250;
const maxExtensionChars = 12;

/**
 * A name as it may go into a form and an attachment cell: UTF-8 as it is (no percent-encoding), without control and direction characters,
 * quotes, backslashes, slashes; at most 250 characters, cut between graphemes, the extension kept, and then with a mark
 * made from the whole name, so that two long names with the same beginning stay apart.
 */
export function cleanFileName(name: string): string {
  const clean = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e"'\\/]/gu, '_')
    .trim();
  if (clean === '') return 'file';
  if (clean.length <= maxNameChars) return clean;
  const dot = clean.lastIndexOf('.');
  const extension = dot > 0 && clean.length - dot <= maxExtensionChars ? clean.slice(dot) : '';
  const mark = `~${adler32(new TextEncoder().encode(clean)).toString(16).padStart(8, '0')}`;
  const roomChars = maxNameChars - extension.length - mark.length;
  let stem = '';
  for (const { segment } of new Intl.Segmenter('zh', { granularity: 'grapheme' }).segment(clean)) {
    if (stem.length + segment.length > roomChars) break;
    stem += segment;
  }
  return `${stem}${mark}${extension}`;
}
