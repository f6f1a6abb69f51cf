import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction, refuseInput } from '../define.ts';

const input = z.strictObject({
  text: z.string(),
  /** Name without braces → what it stands for. */
  values: z.record(z.string(), z.string()),
});

/** `text.fill-placeholders {text, values}` → `{text}`: `{角色}` becomes its value; a name without a value is refused. */
export const fillPlaceholders: NodeFunction = defineFunction('text.fill-placeholders', input, ({ text, values }) => {
  const absent = [...placeholdersIn(text)].filter((name) => !Object.hasOwn(values, name));
  if (absent.length > 0) {
    const names = absent.map((name) => `{${name}}`).join('、');
    return Promise.resolve(
      refuseInput('placeholder-unknown', `no value for ${names}`, `文中的占位符 ${names} 没有对应内容，请改名或补上。`),
    );
  }
  return Promise.resolve(ok({ text: replacePlaceholders(text, values) }));
});

/** Names in braces; full-width braces count as well, since staff type them. */
function placeholdersIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/[{｛]([^{}｛｝\s:：",]{1,20})[}｝]/g)].map((match) => match[1] ?? ''));
}

export function replacePlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/[{｛]([^{}｛｝\s:：",]{1,20})[}｝]/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

/** Reads lines like `{角色}：young woman, …` into name → words. */
export function readKeywordLines(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^[-*]?\s{0,8}[{｛]([^{}｛｝]{1,20})[}｝]\s{0,8}[:：=](.+)$/.exec(line.trim());
    if (match !== null) found[match[1] ?? ''] = (match[2] ?? '').trim();
  }
  return found;
}
