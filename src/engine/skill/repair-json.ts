import { fail, isJsonObject, type Json, ok, type Result } from '../../kernel/index.ts';

/**
 * Reads the JSON in a model's answer. Tried in this order, and the first that parses wins: the text as it is; the inside
 * of an outer fence; from the first bracket to the last; each of these with full-width and curly punctuation turned into
 * structure where it stands as structure, and trailing commas dropped. Never guesses at missing content: an answer cut
 * short is a failure, not a shorter list.
 */
export function readJson(text: string): Result<Json, string> {
  const plain = text.trim();
  if (plain === '') return fail('the answer is empty');
  const candidates = [plain, insideFence(plain), betweenBrackets(plain)].filter((each) => each !== undefined);
  for (const candidate of candidates) {
    const parsed = tryParse(candidate);
    if (parsed !== undefined) return ok(parsed);
  }
  for (const candidate of candidates) {
    const parsed = tryParse(repairPunctuation(candidate));
    if (parsed !== undefined) return ok(parsed);
  }
  const opens = /[{[｛［]/.test(plain);
  return fail(opens ? 'the answer holds no complete JSON (cut short, or malformed)' : 'the answer is prose, not JSON');
}

/** Nobody asks a model for more; endless brackets would break whoever walks the value later. */
const deepestLevel = 64;

function isDeeperThan(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member: Json | undefined) => isDeeperThan(member, levels - 1));
}

/** A bare string or number is prose that happens to parse: only objects and lists count. */
function tryParse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return (isJsonObject(value) || isList(value)) && !isDeeperThan(value, deepestLevel) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Only an outer fence: back-ticks inside a string are content. */
function insideFence(text: string): string | undefined {
  const match =
    /^```[a-zA-Z]*\s*\n?([\s\S]*?)\n?\s*```\s*$/.exec(text) ??
    /\n```[a-zA-Z]*\s*\n([\s\S]*?)\n\s*```/.exec(`\n${text}`);
  return match?.[1]?.trim();
}

function betweenBrackets(text: string): string | undefined {
  const start = text.search(/[{[｛［]/);
  const end = Math.max(...['}', ']', '｝', '］'].map((bracket) => text.lastIndexOf(bracket)));
  return start === -1 || end <= start ? undefined : text.slice(start, end + 1);
}

const structure: Readonly<Record<string, string>> = {
  '｛': '{',
  '｝': '}',
  '［': '[',
  '］': ']',
  '：': ':',
  '，': ',',
  '“': '"',
  '”': '"',
  '＂': '"',
  '„': '"',
};
const quotes = new Set(['"', '“', '”', '＂', '„']);

/**
 * Walks the text as JSON. Outside strings full-width punctuation is structure. Inside a string a quote ends it only when
 * what follows can follow a string (`: , } ]` or the end); any other quote is content and is escaped.
 */
function repairPunctuation(text: string): string {
  let out = '';
  let isInside = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (!isInside) {
      const plain = structure[char] ?? char;
      if (plain === '"') isInside = true;
      if (plain === ',' && /^\s*[}\]｝］]/.test(text.slice(at + 1))) continue;
      out += plain;
      // A doubled opening quote before content: the second one is a slip.
      if (plain === '"' && quotes.has(text[at + 1] ?? '') && !/^["“”]\s*[:,}\]：，｝］]/.test(text.slice(at + 1)))
        at += 1;
      continue;
    }
    if (char === '\\') {
      out += char + (text[at + 1] ?? '');
      at += 1;
    } else if (quotes.has(char)) {
      const ends = /^\s*([:,}\]：，｝］]|$)/.test(text.slice(at + 1));
      if (ends) isInside = false;
      out += ends ? '"' : char === '"' ? '\\"' : char;
    } else out += char === '\n' ? '\\n' : char === '\r' ? '' : char === '\t' ? '\\t' : char;
  }
  return out;
}
