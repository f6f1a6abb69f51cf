import type { ParseDefinition } from '../../contract/index.ts';
import { fail, isJsonObject, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import { readJson } from './repair-json.ts';

/** Why an answer cannot be used, in words that the next attempt is given. */
export type ParseResult = Result<JsonObject, readonly string[]>;

/** Turns the raw answer of a text capability into the skill's output. `finish` is the vendor's word on how it ended. */
export function parseAnswer(parse: ParseDefinition | undefined, text: string, finish: string): ParseResult {
  const thinking = withoutThinking(text);
  if (!thinking.ok) return thinking;
  const answer = thinking.value.trim();
  if (answer === '') return fail(['the answer is empty']);
  if (finish === 'length') return fail(['the answer was cut off at the length limit; answer more briefly']);
  switch (parse?.as) {
    case undefined:
      return ok({ text: answer });
    case 'text': {
      const fault = lengthFault('the answer', answer, parse);
      return fault === undefined ? ok({ text: answer }) : fail([fault]);
    }
    case 'json': {
      const value = readJson(answer);
      if (!value.ok) return fail([value.failure]);
      return isJsonObject(value.value) ? ok(value.value) : ok({ items: value.value });
    }
    case 'sections':
      return parseSections(parse, answer);
  }
}

const thinkingTag = /<(\/?)(think|thinking|reasoning)>/gi;

/**
 * Reasoning in front of the answer is dropped; when its tag is never closed, the answer itself never came. A closing tag
 * alone was opened by the model's template: everything before it is reasoning. One walk over the tags, however many.
 */
function withoutThinking(text: string): Result<string, readonly string[]> {
  let answer = '';
  let from = 0;
  let open: string | undefined;
  let hasStray = false;
  for (const match of text.matchAll(thinkingTag)) {
    const [tag, slash, name = ''] = match;
    const isClosing = slash === '/';
    if (open === undefined && !isClosing) {
      answer += text.slice(from, match.index);
      open = name.toLowerCase();
    } else if (isClosing && (open === undefined ? !hasStray : open === name.toLowerCase())) {
      if (open === undefined) answer = '';
      hasStray ||= open === undefined;
      open = undefined;
      from = match.index + tag.length;
    }
  }
  return open === undefined
    ? ok(answer + text.slice(from))
    : fail(['the answer was cut off while still thinking; answer more briefly']);
}

type SectionsDefinition = Extract<ParseDefinition, { as: 'sections' }>;

function parseSections(parse: SectionsDefinition, text: string): ParseResult {
  const marks = Object.entries(parse.sections).map(([name, section]) => ({
    name,
    ...section,
    pattern: markPattern(section.mark),
  }));
  const opens = marks
    .map((mark) => ({ ...mark, found: mark.pattern.exec(text) }))
    .flatMap((mark) =>
      mark.found === null ? [] : [{ ...mark, start: mark.found.index, end: mark.found.index + mark.found[0].length }],
    );
  const output: Record<string, string> = {};
  const faults: string[] = [];
  for (const mark of marks) {
    const open = opens.find((each) => each.name === mark.name);
    if (open === undefined) {
      faults.push(`section ${mark.mark} is missing`);
      continue;
    }
    const nextStart = Math.min(
      text.length,
      ...opens.filter((each) => each.start > open.start).map((each) => each.start),
    );
    const body = text.slice(open.end, nextStart);
    const close = closePattern(mark.mark).exec(body);
    const content = stripFence((close === null ? body : body.slice(0, close.index)).trim());
    const fault = content === '' ? `section ${mark.mark} is empty` : lengthFault(`section ${mark.mark}`, content, mark);
    if (fault === undefined) output[mark.name] = content;
    else faults.push(fault);
  }
  return faults.length === 0 ? ok(output) : fail(faults);
}

/** `[[NAME]]`, also in full-width brackets, bold, or with spaces inside: what models make of a mark. */
function markPattern(mark: string): RegExp {
  return new RegExp(
    `\\*{0,4}[[［【]{1,2}\\s{0,8}${escapePattern(innerName(mark))}\\s{0,8}[\\]］】]{1,2}\\*{0,4}[:：]?`,
    'i',
  );
}

function closePattern(mark: string): RegExp {
  return new RegExp(
    `\\*{0,4}[[［【]{1,2}\\s{0,8}/\\s{0,8}${escapePattern(innerName(mark))}\\s{0,8}[\\]］】]{1,2}\\*{0,4}`,
    'i',
  );
}

function innerName(mark: string): string {
  return mark.replaceAll(/^[[［【]+|[\]］】]+$/g, '').trim();
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}

function stripFence(text: string): string {
  return /^```[a-zA-Z]*\n([\s\S]*)\n```$/.exec(text)?.[1]?.trim() ?? text;
}

function lengthFault(
  what: string,
  text: string,
  limits: { readonly min_chars?: number | undefined; readonly max_chars?: number | undefined },
): string | undefined {
  const length = Array.from(text).length;
  if (limits.min_chars !== undefined && length < limits.min_chars)
    return `${what} is too short (${length} characters, at least ${limits.min_chars})`;
  if (limits.max_chars !== undefined && length > limits.max_chars)
    return `${what} is too long (${length} characters, at most ${limits.max_chars})`;
  return undefined;
}
