/** JSON values, as they are stored, sent and read back. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy as JSON gives it back: without absent members, and with whatever has a `toJSON` as that says. Throws for anything else. */
export function jsonObjectOf(value: object): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value));
  if (!isJsonObject(copy)) throw new TypeError('not an object in JSON');
  return copy;
}

/** JSON with sorted keys and without undefined members: the same value always gives the same bytes (used for hashing). */
export function canonicalJson(value: unknown): string {
  if (value === undefined) return 'null';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('toJSON' in value) return canonicalJson(JSON.parse(JSON.stringify(value)));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return 'null';
  let members = '';
  // Sorted by UTF-16 units, as `<` compares.
  for (const name of Object.keys(value).sort()) {
    const member: unknown = value[name];
    if (member === undefined || typeof member === 'function') continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}
