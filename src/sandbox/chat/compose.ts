import { isJsonObject, type Json, type JsonObject } from '../../kernel/index.ts';
import { parseJson } from '../endpoint.ts';
import type { Asked } from './request.ts';
import {
  advice,
  article,
  type Brief,
  imagePrompt,
  keywords,
  motifPrompt,
  readBrief,
  retouchPrompt,
  screenParts,
  script,
  shotPicture,
  spokenNotes,
  statements,
} from './writing.ts';

/**
 * What the sandbox's chat model answers: it looks for the form that the prompt asks for (marked sections, or a JSON object
 * after an example or a schema) and fills it; with neither it writes a text.
 */
export function composeAnswer(asked: Asked): string {
  if (
    asked.pictures.length === 0 &&
    /请看附图|attached (?:picture|image|screenshot)s? (?:show|is|are)/i.test(asked.prompt)
  ) {
    return '我没有看到任何图片，请先上传产品图片。';
  }
  const brief = readBrief(asked.prompt);
  const sections = readSections(asked.prompt);
  if (sections.length > 0) {
    return sections.map(({ mark, hint }) => `[[${mark}]]\n${writeSection(mark, hint, brief)}\n[[/${mark}]]`).join('\n');
  }
  const shape = asked.schema === undefined ? readExample(asked) : exampleOfSchema(asked.schema, 0);
  if (shape !== undefined) return JSON.stringify(fill(shape, { key: '', index: 0, brief, prompt: asked.prompt }));
  if (asked.wantsJson) return JSON.stringify({ text: article(brief.subject) });
  return article(brief.subject);
}

interface Section {
  readonly mark: string;
  /** What the prompt says between the marks. */
  readonly hint: string;
}

function readSections(prompt: string): Section[] {
  const found = new Map<string, string>();
  for (const match of prompt.matchAll(/\[\[([^\]/][^\]]*)\]\]([\s\S]*?)(?=\[\[|$)/g)) {
    const mark = match[1] ?? '';
    if (!found.has(mark)) found.set(mark, match[2] ?? '');
  }
  return [...found].map(([mark, hint]) => ({ mark, hint }));
}

function writeSection(mark: string, hint: string, brief: Brief): string {
  const name = `${mark} ${hint.slice(0, 80)}`;
  if (/SCRIPT|脚本/i.test(mark) || /拍摄脚本/.test(name)) return script(brief);
  if (/KEYWORD|一致性|关键词/i.test(name)) return keywords(brief.subject);
  if (/IMAGE|PICTURE|英文提示词|图提示词/i.test(name)) return imagePrompt();
  if (/ISSUE|PROBLEM|ADVICE|SUGGEST|问题|建议/i.test(name)) return advice.map((line) => `- ${line}`).join('\n');
  if (/prompt/i.test(mark)) return imagePrompt();
  return article(brief.subject);
}

/** The last JSON object in the prompt or the system text that parses: the example that answers are to follow. */
function readExample(asked: Asked): Json | undefined {
  if (!asked.wantsJson && !/JSON/i.test(asked.prompt + asked.system)) return undefined;
  for (const text of [asked.prompt, asked.system]) {
    for (let at = text.lastIndexOf('{'); at >= 0; at = at === 0 ? -1 : text.lastIndexOf('{', at - 1)) {
      const value = parseBalanced(text, at);
      if (isJsonObject(value) && Object.keys(value).length > 0 && isOutermost(text, at)) return value;
    }
  }
  return undefined;
}

/** Not inside another object that parses: no unclosed brace on the way back to the line's start or a blank line. */
function isOutermost(text: string, at: number): boolean {
  const before = text.lastIndexOf('{', at - 1);
  if (at === 0 || before < 0) return true;
  for (let outer = before; outer >= 0; outer = outer === 0 ? -1 : text.lastIndexOf('{', outer - 1)) {
    const end = balancedEnd(text, outer);
    if (end !== undefined && end > at && isJsonObject(parseBalanced(text, outer))) return false;
  }
  return true;
}

function parseBalanced(text: string, at: number): unknown {
  const end = balancedEnd(text, at);
  return end === undefined ? undefined : parseJson(text.slice(at, end).replace(/,\s*(?:…|\.\.\.)\s*(?=[\]}])/g, ''));
}

function balancedEnd(text: string, at: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let index = at; index < text.length; index += 1) {
    const letter = text[index];
    if (letter === '\\' && isText) index += 1;
    else if (letter === '"') isText = !isText;
    else if (!isText && letter === '{') depth += 1;
    else if (!isText && letter === '}') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}

interface Spot {
  readonly key: string;
  readonly index: number;
  readonly brief: Brief;
  readonly prompt: string;
}

function fill(shape: Json, spot: Spot): Json {
  if (Array.isArray(shape)) return fillList(shape, spot);
  if (isJsonObject(shape)) {
    return Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, fill(value ?? '', { ...spot, key })]));
  }
  if (typeof shape === 'boolean') return !/reject|fail|unsafe|violat|blocked/i.test(spot.key);
  if (typeof shape === 'number') return fillNumber(shape, spot);
  return typeof shape === 'string' ? fillText(shape, spot) : shape;
}

/** An example of several items keeps its length; one of a single item is repeated as often as the prompt asks. */
function fillList(shape: readonly Json[], spot: Spot): Json {
  const first = shape[0];
  if (first === undefined || /reasons|errors|violations/i.test(spot.key)) return [];
  const many = /shot|panel|slide|page/i.test(spot.key);
  const once = /pick|rank|choice/i.test(spot.key) ? Math.min(3, spot.brief.pictures) : 3;
  const count = many ? spot.brief.shots : shape.length > 1 ? shape.length : once;
  return Array.from({ length: count }, (_unused, index) => fill(shape[index] ?? first, { ...spot, index }));
}

function fillNumber(shape: number, spot: Spot): number {
  if (/^(number|index|page|seq|order)$/i.test(spot.key)) return spot.index + 1;
  return /score|rating|quality/i.test(spot.key) ? Math.max(shape, 90) : shape;
}

/** Words for a key that the example leaves open; undefined where the example's own value stands. */
const writers: readonly (readonly [RegExp, (spot: Spot) => string])[] = [
  [/picture|frame|visual/i, ({ index }) => shotPicture(index)],
  [/motif|artwork/i, motifPrompt],
  [/prompt/i, ({ brief }) => (brief.isWorn ? imagePrompt() : retouchPrompt())],
  [/keyword/i, ({ brief }) => keywords(brief.subject)],
  [/query/i, ({ brief }) => `${brief.subject.slice(0, 20)} 面料 场景 洗护`],
  [/title|heading/i, ({ index, brief }) => (index === 0 ? brief.subject.slice(0, 20) : `第 ${index + 1} 步怎么做`)],
  [/problem|change|issue|suggest/i, ({ index }) => advice[index % advice.length] ?? ''],
  [/^(name|kind|place)$/i, ({ key, index }) => partOf(key, index)],
  [/note|speech/i, ({ brief }) => spokenNotes(brief.subject)],
  [/point|bullet|rule/i, ({ index }) => statements[index % statements.length] ?? ''],
];

function partOf(key: string, index: number): string {
  const part = screenParts[index % screenParts.length];
  return part === undefined ? '' : key === 'kind' ? part.kind : key === 'place' ? part.place : part.name;
}

function fillText(shape: string, spot: Spot): string {
  if (shape === '') return '';
  const choices = shape.split('|').map((choice) => choice.trim());
  if (choices.length > 1 && choices.every((choice) => /^[\w\u4e00-\u9fff-]{1,40}$/.test(choice)))
    return choices[0] ?? '';
  if (/workflow|route/i.test(spot.key)) return chooseName(spot) ?? shape;
  if (!/…|\.\.\.|^<.*>$|^string$|一句/.test(shape) && shape.length < 30) return shape;
  const writer = writers.find(([pattern]) => pattern.test(spot.key))?.[1];
  return writer === undefined ? `关于“${spot.brief.subject}”：主体突出，光线柔和，细节清楚。` : writer(spot);
}

/** Of the names offered in the prompt (`- photo-retouch：…`) the one whose description shares most with the request. */
function chooseName(spot: Spot): string | undefined {
  const offers = [...spot.prompt.matchAll(/^\s*(?:[-*]|\d+[.、])\s*`?([a-z][a-z0-9-]+)`?\s*[：:—-]\s*(.*)$/gm)];
  const hasPictures = /附有原图|attached/i.test(spot.prompt);
  const scored = offers.map(([, name = '', words = '']) => ({
    name,
    score: sharedPairs(words, spot.brief.subject) + (!hasPictures && name.endsWith('generate') ? 10 : 0),
  }));
  return scored.toSorted((left, right) => right.score - left.score)[0]?.name;
}

function sharedPairs(left: string, right: string): number {
  let shared = 0;
  for (let at = 0; at + 1 < right.length; at += 1) {
    const pair = right.slice(at, at + 2);
    if (/^[\u4e00-\u9fff]{2}$/.test(pair) && left.includes(pair)) shared += 1;
  }
  return shared;
}

/** An example that a JSON schema allows. */
function exampleOfSchema(schema: unknown, depth: number): Json | undefined {
  if (!isJsonObject(schema) || depth > 6) return undefined;
  const options: Json | undefined = schema['enum'];
  if (Array.isArray(options)) return options.find((option: Json) => typeof option === 'string') ?? '';
  switch (schema['type']) {
    case 'object': {
      const properties: JsonObject = isJsonObject(schema['properties']) ? schema['properties'] : {};
      const entries = Object.entries(properties).map(([key, member]) => [
        key,
        exampleOfSchema(member, depth + 1) ?? '…',
      ]);
      return Object.fromEntries(entries) as JsonObject; // eslint-disable-line @typescript-eslint/no-unsafe-type-assertion
    }
    case 'array':
      return [exampleOfSchema(schema['items'], depth + 1) ?? '…'];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return 1;
    default:
      return '…';
  }
}
