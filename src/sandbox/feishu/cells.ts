import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import type { FieldState } from '../state.ts';
import { newToken, personOf, type World } from '../world.ts';
import { Refusal } from './refusal.ts';

/** Field types by number, as the platform counts them. */
export const fieldType = {
  text: 1,
  number: 2,
  select: 3,
  multiSelect: 4,
  date: 5,
  checkbox: 7,
  person: 11,
  phone: 13,
  url: 15,
  attachment: 17,
  link: 18,
  lookup: 19,
  formula: 20,
  twoWayLink: 21,
  location: 22,
  group: 23,
  createdTime: 1001,
  modifiedTime: 1002,
  createdBy: 1003,
  modifiedBy: 1004,
  autoNumber: 1005,
} as const;

const readOnlyTypes: readonly number[] = [
  fieldType.lookup,
  fieldType.formula,
  fieldType.createdTime,
  fieldType.modifiedTime,
  fieldType.createdBy,
  fieldType.modifiedBy,
  fieldType.autoNumber,
];

const maxTextChars = 100_000;
const maxAttachments = 100;

/** Turns a value in its write shape into the cell that is kept (its read shape); `undefined` clears. Throws a Refusal. */
export function toCell(world: World, appToken: string, field: FieldState, value: Json): Json | undefined {
  if (readOnlyTypes.includes(field.type)) throw new Refusal(1254015, `Field types do not match: ${field.name}`);
  if (value === null) return undefined;
  switch (field.type) {
    case fieldType.text:
      return textCell(value);
    case fieldType.number:
      return typeof value === 'number' && Number.isFinite(value) ? value : refuse(1254061, 'NumberFieldConvFail');
    case fieldType.select:
      return selectCell(world, field, value);
    case fieldType.multiSelect:
      return multiSelectCell(world, field, value);
    case fieldType.date:
      return typeof value === 'number' ? value : refuse(1254064, 'DatetimeFieldConvFail');
    case fieldType.checkbox:
      return typeof value === 'boolean' ? value : refuse(1254065, 'CheckboxFieldConvFail');
    case fieldType.person:
      return personCell(world, value);
    case fieldType.phone:
      return typeof value === 'string' && /^\+?\d{1,64}$/.test(value) ? value : refuse(1254072, 'PhoneFieldConvFail');
    case fieldType.url:
      return urlCell(value);
    case fieldType.attachment:
      return attachmentCell(world, appToken, value);
    case fieldType.link:
    case fieldType.twoWayLink:
      return linkCell(value);
    case fieldType.group:
      return groupCell(value);
    default:
      return refuse(1254012, `unsupported field type ${field.type}`);
  }
}

function refuse(code: number, message: string): never {
  throw new Refusal(code, message);
}

function textCell(value: Json): Json | undefined {
  if (typeof value !== 'string') return refuse(1254060, 'TextFieldConvFail');
  if (value.length > maxTextChars) return refuse(1254130, 'TooLargeCell');
  return value === '' ? undefined : [{ type: 'text', text: value }];
}

const optionsSchema = z.array(z.looseObject({ id: z.string(), name: z.string() }));

/** The options of a select field. */
export function optionsOf(field: FieldState): { id: string; name: string; color: number }[] {
  const parsed = optionsSchema.safeParse(field.property?.['options']);
  return parsed.success
    ? parsed.data.map((option) => ({ id: option.id, name: option.name, color: numberOr0(option['color']) }))
    : [];
}

function numberOr0(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** A name that no option has yet becomes one. */
function ensureOption(world: World, field: FieldState, name: string): void {
  const options = optionsOf(field);
  if (options.some((option) => option.name === name)) return;
  const added = { id: newToken(world, 'opt', 10), name, color: options.length % 55 };
  field.property = { ...field.property, options: [...options, added] };
}

function selectCell(world: World, field: FieldState, value: Json): Json | undefined {
  if (typeof value !== 'string') return refuse(1254062, 'SingleSelectFieldConvFail');
  if (value === '') return undefined;
  ensureOption(world, field, value);
  return value;
}

function multiSelectCell(world: World, field: FieldState, value: Json): Json | undefined {
  const names = z.array(z.string()).max(1_000).safeParse(value);
  if (!names.success) return refuse(1254063, 'MultiSelectFieldConvFail');
  for (const name of names.data) ensureOption(world, field, name);
  return names.data.length === 0 ? undefined : names.data;
}

function personCell(world: World, value: Json): Json | undefined {
  const people = z.array(z.looseObject({ id: z.string() })).safeParse(value);
  if (!people.success) return refuse(1254066, 'UserFieldConvFail');
  return people.data.length === 0 ? undefined : people.data.map((person) => personJson(world, person.id));
}

/** A person as cells show one. */
export function personJson(world: World, openId: string): JsonObject {
  const { name } = personOf(world, openId);
  return { id: openId, name, en_name: name, email: '', avatar_url: '' };
}

function urlCell(value: Json): Json {
  const parsed = z.object({ link: z.string().min(1), text: z.string().optional() }).safeParse(value);
  if (!parsed.success) return refuse(1254068, 'URLFieldConvFail');
  const { link: address, text = address } = parsed.data;
  const cell: JsonObject = { link: address, text };
  return cell;
}

function attachmentCell(world: World, appToken: string, value: Json): Json | undefined {
  const parsed = z.array(z.looseObject({ file_token: z.string() })).safeParse(value);
  if (!parsed.success) return refuse(1254069, 'AttachFieldConvFail');
  if (parsed.data.length > maxAttachments) return refuse(1254106, 'AttachPerCellLimitExceed');
  const cells = parsed.data.map(({ file_token }) => {
    const media = world.state.media[file_token];
    if (media === undefined || media.appToken !== appToken) {
      return refuse(1254303, 'The attachment does not belong to this bitable');
    }
    return { file_token, name: media.name, size: media.sizeBytes, type: media.mime };
  });
  return cells.length === 0 ? undefined : cells;
}

function linkCell(value: Json): Json | undefined {
  const ids = z.array(z.string()).max(500).safeParse(value);
  if (!ids.success) return refuse(1254067, 'LinkFieldConvFail');
  return ids.data.length === 0 ? undefined : { link_record_ids: ids.data };
}

function groupCell(value: Json): Json {
  const groups = z
    .array(z.looseObject({ id: z.string() }))
    .max(10)
    .safeParse(value);
  if (!groups.success) return refuse(1254066, 'GroupFieldConvFail');
  return groups.data.map((group) => ({ id: group.id, name: group.id, avatar_url: '' }));
}

/** The plain text of a cell, whatever its type: what filters and people compare. */
export function cellText(cell: Json | undefined): string {
  if (cell === undefined || cell === null) return '';
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
  if (Array.isArray(cell)) return cell.map((part: Json) => cellText(part)).join('');
  if (!isJsonObject(cell)) return '';
  return cellText(cell['text'] ?? cell['name'] ?? cell['value'] ?? cell['link']);
}
