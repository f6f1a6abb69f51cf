import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { type Json, ok } from '../../kernel/index.ts';
import { defineFunction, jsonSchema } from '../define.ts';

const input = z.strictObject({
  items: z.array(jsonSchema).nullish(),
  /** What one item becomes: `{n}` is its number, `{name}` a member, `{}` the item itself. */
  template: z.string().optional(),
  heading: z.string().optional(),
  /** The text for no items at all. */
  none: z.string().optional(),
});

/** `text.lines {items, template?, heading?, none?}` → `{text, count}`: a list of things as lines that people read. */
export const writeLines: NodeFunction = defineFunction('text.lines', input, ({ items, template, heading, none }) => {
  const lines = (items ?? []).map((item, index) => writeLine(item, index + 1, template ?? '{n}. {}'));
  const body = lines.length === 0 ? (none ?? '') : lines.join('\n');
  const text = heading === undefined ? body : `${heading}\n${body}`;
  return Promise.resolve(ok({ text, count: lines.length }));
});

function writeLine(item: Json, number: number, template: string): string {
  return template.replace(/\{([\w\u4e00-\u9fff]*)\}/g, (_, name: string) => {
    if (name === 'n') return String(number);
    return wordsOf(name === '' ? item : memberOf(item, name));
  });
}

function memberOf(item: Json, name: string): Json | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
  return Object.entries(item).find(([key]) => key === name)?.[1];
}

function wordsOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map((each: Json) => wordsOf(each)).join('、');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
