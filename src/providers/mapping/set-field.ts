import { isJsonObject, type Json } from '../../kernel/index.ts';

/**
 * Writes a value under a field name of the configuration. `a.b` is a member of a member; `list#role` appends
 * `{url, role}` to a list; an empty name is checked but never sent. Lists are appended to when the name repeats.
 */
export function setField(body: Record<string, Json | undefined>, name: string, value: Json): void {
  if (name === '') return;
  const [listName, role] = name.split('#', 2);
  if (listName !== undefined && role !== undefined) {
    body[listName] = [...(listOf(body[listName]) ?? []), { url: value, role }];
    return;
  }
  const [head = '', ...rest] = name.split('.');
  if (rest.length > 0) {
    const inner = body[head];
    const member: Record<string, Json | undefined> = isJsonObject(inner) ? { ...inner } : {};
    setField(member, rest.join('.'), value);
    body[head] = member;
    return;
  }
  const present = listOf(body[head]);
  const added = listOf(value);
  body[head] = present !== undefined && added !== undefined ? [...present, ...added] : value;
}

function listOf(value: Json | undefined): readonly Json[] | undefined {
  return isList(value) ? value : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
