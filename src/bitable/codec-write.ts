import type { Json, JsonObject } from '../kernel/index.ts';
import { readAttachments, readNumber, readText } from './codec-read.ts';

/** Most characters of a text cell (facts: sizes). */
export const maxTextChars = 100_000;
/** Most files of an attachment cell. */
export const maxAttachments = 100;

const cutMark = '\n…（内容过长，已截断）';

/** Text in its write shape: a plain string, cut between characters at the platform's limit with a mark; empty clears. */
export function writeText(text: string): string | null {
  if (text === '') return null;
  if (text.length <= maxTextChars) return text;
  return `${cutWhole(text, maxTextChars - cutMark.length)}${cutMark}`;
}

/** Cuts to at most `limit` UTF-16 units without splitting a character that people see as one. */
function cutWhole(text: string, limit: number): string {
  const from = Math.max(0, limit - 64);
  let end = from;
  for (const { segment, index } of new Intl.Segmenter('zh', { granularity: 'grapheme' }).segment(
    text.slice(from, limit + 64),
  )) {
    if (from + index + segment.length > limit) break;
    end = from + index + segment.length;
  }
  return text.slice(0, end);
}

/** A finite JSON number, or undefined: the cell is then left untouched (P011). */
export function writeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Dates are 13-digit milliseconds (P014). */
export function writeDateMs(atMs: number): number {
  return Math.trunc(atMs);
}

/** The one shape that the platform takes for files (P176); at most 100 of them. */
export function writeAttachments(tokens: readonly string[]): Json {
  if (tokens.length === 0) return null;
  return tokens.slice(0, maxAttachments).map((token) => ({ file_token: token }));
}

/** Yuan, exact to a millionth. */
export function writeYuan(micros: number): number {
  return micros / 1_000_000;
}

/** Whether a cell as read says the same as one that was written. */
export function sameCell(read: Json | undefined, written: Json): boolean {
  if (written === null) return readText(read).trim() === '' && readAttachments(read).length === 0;
  if (typeof written === 'number') return readNumber(read) === written;
  if (typeof written === 'string') return readText(read) === written;
  const wanted = readAttachments(written).map((file) => file.fileToken);
  const found = readAttachments(read).map((file) => file.fileToken);
  return wanted.length === found.length && wanted.every((token, index) => found[index] === token);
}

/** The columns of a write that a fresh read does not show as written. */
export function columnsThatDiffer(read: JsonObject, written: JsonObject): readonly string[] {
  return Object.entries(written)
    .filter(([column, cell]) => cell !== undefined && !sameCell(read[column], cell))
    .map(([column]) => column);
}
