import type { Json, JsonObject } from '../../kernel/index.ts';

const blockPattern = /\{\{#\s*([^}\s]+)\s*\}\}([\s\S]*?)\{\{\/\s*\1\s*\}\}/g;
const variablePattern = /\{\{\s*([^}#/\s]+)\s*\}\}/g;

/** What a prompt sets around material, and around the parts of an answer: `<需求>`, `</需求>`, `[[FACTS]]`, `[[/FACTS]]`. */
const markPattern = /<\/?(\p{L}[\p{L}\p{N}_-]*)>|\[\[\/?([A-Z][A-Z0-9_]*)\]\]/gu;

/**
 * Fills a template: `{{x}}` with the value of x, `{{#x}}…{{/x}}` kept only where x is not empty. Values are data: they are
 * never read as a template themselves, and a mark of this template inside a value loses its brackets, so that what staff
 * type, or a model answered, can neither open a block nor leave the place that it stands in.
 */
export function renderTemplate(template: string, values: JsonObject): string {
  const withBlocks = renderBlocks(template, values, 0);
  const disarm = disarmerOf(template);
  return withBlocks.replaceAll(variablePattern, (_match, name: string) => disarm(textOf(values[name]))).trim();
}

/** Takes the brackets from every look-alike of the template's marks: spaces inside and letter case make no difference. */
function disarmerOf(template: string): (text: string) => string {
  const names = [...template.matchAll(markPattern)].flatMap((match) => match[1] ?? match[2] ?? []);
  if (names.length === 0) return (text) => text;
  const either = [...new Set(names)].join('|');
  const alike = new RegExp(String.raw`[<[][<[ ]{0,8}(/?) {0,4}(${either}) {0,4}[>\]](?: {0,4}[>\]])?`, 'giu');
  return (text) => text.replaceAll(alike, (_match, slash: string, name: string) => `(${slash}${name})`);
}

function renderBlocks(template: string, values: JsonObject, depth: number): string {
  if (depth > 8) return template;
  return template.replaceAll(blockPattern, (_match, name: string, body: string) =>
    isEmpty(values[name]) ? '' : renderBlocks(body, values, depth + 1),
  );
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false) return true;
  if (typeof value === 'string') return value.trim() === '';
  return Array.isArray(value) && value.length === 0;
}

/** Lists of texts are written one a line, anything else as JSON. */
function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join('\n');
  return JSON.stringify(value, undefined, 1);
}

/** Fills `{{variables}}` anywhere in a JSON value; a text that is nothing but one variable becomes its value. */
export function renderValue(value: Json, values: JsonObject): Json {
  if (typeof value === 'string') {
    const whole = /^\{\{\s*([^}#/\s]+)\s*\}\}$/.exec(value);
    if (whole !== null) return values[whole[1] ?? ''] ?? '';
    return value.includes('{{') ? renderTemplate(value, values) : value;
  }
  if (Array.isArray(value)) return value.map((each: Json) => renderValue(each, values));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, each === undefined ? null : renderValue(each, values)]),
  );
}
