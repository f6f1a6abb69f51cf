import type { Json, JsonObject } from '../../kernel/index.ts';

const blockPattern = /\{\{#\s*([^}\s]+)\s*\}\}([\s\S]*?)\{\{\/\s*\1\s*\}\}/g;
const variablePattern = /\{\{\s*([^}#/\s]+)\s*\}\}/g;

/**
 * Fills a template: `{{x}}` with the value of x, `{{#x}}…{{/x}}` kept only where x is not empty. Values are put in as
 * they are and never read as a template themselves: what staff type cannot open a block.
 */
export function renderTemplate(template: string, values: JsonObject): string {
  const withBlocks = renderBlocks(template, values, 0);
  return withBlocks.replaceAll(variablePattern, (_match, name: string) => textOf(values[name])).trim();
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
