import type { FeishuFailure } from '../feishu/index.ts';
import type { Json, JsonObject } from '../kernel/index.ts';
import { readAttachments } from './codec-read.ts';
import { maxAttachments, writeAttachments } from './codec-write.ts';

/** New files for an attachment cell, merged with what lies there when the write goes out. */
export interface AttachmentMerge {
  readonly column: string;
  /** The newest version, in order. */
  readonly tokens: readonly string[];
  /** The bot's earlier versions, newest first. What is in none of them was put there by staff and stays. */
  readonly versions: readonly (readonly string[])[];
  /** Versions kept in all, the newest included. */
  readonly keep: number;
  /** `false`: after everything else (a late result that is only kept). */
  readonly first: boolean;
}

export type WriteOutcome =
  /** `fields`: what was written, over the whole row where the writer had to read it (`isWhole`). */
  | { readonly kind: 'written'; readonly fields: JsonObject; readonly isWhole: boolean }
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly failure: FeishuFailure };

/** What waits to be written to one row: per column the last value wins. */
export interface WriteEntry {
  readonly tableId: string;
  readonly recordId: string;
  cells: Record<string, Json>;
  merges: AttachmentMerge[];
  /** The write goes out at the latest then (monotonic). */
  dueMs: number;
  /** Not before then: the row was refused for a while. */
  notBeforeMs: number;
  tries: number;
  /** The row is read before the write: it has merges, or an earlier try may have been done. */
  readFirst: boolean;
  /** It failed without a reason while the rest of its batch was written: it is sent by itself, and its failures are its own. */
  standsAlone: boolean;
  /** The word that `操作: null` is meant for; another word found on a repeat is left alone. */
  clears: { readonly column: string; readonly word: string } | undefined;
  readonly waiters: ((outcome: WriteOutcome) => void)[];
}

/** Lays a newer entry over an older one of the same row; both callers are told of the one write. */
export function overlay(older: WriteEntry, newer: WriteEntry): WriteEntry {
  const replaced = new Set(newer.merges.map((merge) => merge.column));
  return {
    ...older,
    cells: { ...older.cells, ...newer.cells },
    merges: [...older.merges.filter((merge) => !replaced.has(merge.column)), ...newer.merges],
    dueMs: Math.min(older.dueMs, newer.dueMs),
    notBeforeMs: Math.max(older.notBeforeMs, newer.notBeforeMs),
    tries: Math.max(older.tries, newer.tries),
    readFirst: older.readFirst || newer.readFirst,
    standsAlone: older.standsAlone || newer.standsAlone,
    clears: newer.clears ?? older.clears,
    waiters: [...older.waiters, ...newer.waiters],
  };
}

/** The cell after a merge: newest version, then earlier ones up to `keep`, then what staff put there. Never doubled. */
export function mergedCell(merge: AttachmentMerge, present: Json | undefined): Json {
  const found = readAttachments(present).map((file) => file.fileToken);
  const ours = new Set(merge.versions.flat());
  const kept = new Set(merge.versions.slice(0, Math.max(0, merge.keep - 1)).flat());
  const others = found.filter((token) => !merge.tokens.includes(token) && (!ours.has(token) || kept.has(token)));
  const tokens = merge.first ? [...merge.tokens, ...others] : [...others, ...merge.tokens];
  const unique = [...new Set(tokens)];
  return writeAttachments(merge.first ? unique.slice(0, maxAttachments) : unique.slice(-maxAttachments));
}
