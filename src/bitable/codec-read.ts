import { z } from 'zod';
import type { Json } from '../kernel/index.ts';

/**
 * Cells as `search` and `batch_get` give them (facts: Bitable record data structure). Lenient: only the fields we need
 * are read, an unknown shape is an empty cell, never a crash. An absent key is an empty cell (so is null, from older calls).
 */
type Cell = Json | undefined;

/** Members are taken as they come: they were JSON before, and a deep check would follow any nesting. */
const wrapped = z.object({ type: z.number(), value: z.array(z.custom<Json>()) });
/** Real cells nest four deep; what lies deeper is nobody's text. */
const deepestLevel = 16;
const attachmentCell = z.object({
  file_token: z.string().min(1),
  name: z.string().optional(),
  size: z.coerce.number().optional(),
  type: z.string().optional(),
});
const linkCell = z.object({ link_record_ids: z.array(z.string()) });
const personCell = z.object({ id: z.string().min(1), name: z.string().optional() });

export interface CellAttachment {
  readonly fileToken: string;
  readonly name: string;
  /** As the table says; undefined where it does not. */
  readonly sizeBytes?: number;
}

export interface CellPerson {
  readonly id: string;
  readonly name?: string;
}

/** Formula and lookup cells carry their result one level deeper: `{type, value: […]}`. */
function unwrap(cell: Cell): Cell {
  const parsed = wrapped.safeParse(cell);
  return parsed.success ? parsed.data.value : cell;
}

/**
 * The text of any cell that has one: segments (text, mention, link) joined, select options joined with `, `, numbers and
 * booleans spelled out, persons and groups by name, a location by its full address.
 */
export function readText(cell: Cell): string {
  return textAt(cell, 0);
}

function textAt(cell: Cell, level: number): string {
  if (level > deepestLevel) return '';
  const value = unwrap(cell);
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return textOfObject(value);
  const members: readonly Json[] = value;
  const segmented = members.some((member) => isSegment(member));
  return members
    .map((member) => textAt(member, level + 1))
    .filter((text) => text !== '')
    .join(segmented ? '' : ', ');
}

const segment = z.object({ text: z.string() });

function isSegment(member: Json): boolean {
  return segment.safeParse(member).success;
}

/** Keys that hold the readable part of an object cell, best first. */
const textKeys = ['text', 'full_address', 'name', 'address', 'link', 'id'] as const;

const anyObject = z.record(z.string(), z.unknown());

function textOfObject(value: object): string {
  const shape = anyObject.safeParse(value);
  if (!shape.success) return '';
  for (const key of textKeys) {
    const member = shape.data[key];
    if (typeof member === 'string' && member !== '') return member;
  }
  const linked = linkCell.safeParse(value);
  return linked.success ? linked.data.link_record_ids.join(', ') : '';
}

/** A finite number, also from a one-element formula or from digits in a text column; undefined otherwise. */
export function readNumber(cell: Cell): number | undefined {
  const value = unwrap(cell);
  const single: Cell = Array.isArray(value) ? firstOf(value) : value;
  if (typeof single === 'number') return Number.isFinite(single) ? single : undefined;
  const text = readText(single).normalize('NFKC').trim();
  if (!/^[+-]?\d+(\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}

function firstOf(values: readonly Json[]): Cell {
  return values[0];
}

/** The option of a single select; the first of a multi select. */
export function readSelect(cell: Cell): string {
  const value = unwrap(cell);
  return readText(Array.isArray(value) ? pickFirstOption(value) : value).trim();
}

function pickFirstOption(values: readonly Json[]): Cell {
  return values.some((member) => isSegment(member)) ? values : firstOf(values);
}

/** Options of a multi select, or the one of a single select. */
export function readOptions(cell: Cell): readonly string[] {
  const value = unwrap(cell);
  const members: readonly Json[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return members.map((member) => readText(member)).filter((text) => text !== '');
}

export function readCheckbox(cell: Cell): boolean {
  const value = unwrap(cell);
  return value === true || (Array.isArray(value) && firstOf(value) === true);
}

/** Epoch milliseconds of a date, created-time or modified-time cell. */
export function readDateMs(cell: Cell): number | undefined {
  return readNumber(cell);
}

/** Files of an attachment cell, in the cell's order; a member without a token is dropped. */
export function readAttachments(cell: Cell): readonly CellAttachment[] {
  const value = unwrap(cell);
  if (!Array.isArray(value)) return [];
  const members: readonly Json[] = value;
  return members.flatMap((member) => {
    const parsed = attachmentCell.safeParse(member);
    if (!parsed.success) return [];
    const { file_token: fileToken, name, size } = parsed.data;
    return [{ fileToken, name: name ?? fileToken, ...(size === undefined ? {} : { sizeBytes: size }) }];
  });
}

/** Persons of a person, created-by or modified-by cell (an array, or one object as the documents also say). */
export function readPersons(cell: Cell): readonly CellPerson[] {
  const value = unwrap(cell);
  const members: readonly Json[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return members.flatMap((member) => {
    const parsed = personCell.safeParse(member);
    if (!parsed.success) return [];
    return [{ id: parsed.data.id, ...(parsed.data.name === undefined ? {} : { name: parsed.data.name }) }];
  });
}

/** Nothing in it for a person who looks: absent, null, empty text, empty list. */
export function isEmptyCell(cell: Cell): boolean {
  const value = unwrap(cell);
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value))
    return value.length === 0 || (readText(cell).trim() === '' && readAttachments(cell).length === 0);
  return false;
}
