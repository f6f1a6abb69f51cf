import { isMap, isPair, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type ConfigFault, faultAt, type Place } from './fault.ts';

export type Path = readonly (string | number)[];

/** A YAML text with its value and the place of every member. */
export interface YamlFile {
  readonly file: string;
  readonly value: unknown;
  readonly faults: readonly ConfigFault[];
  /** Where a member's value stands; an absent member is placed at its nearest present parent. */
  readonly placeOf: (path: Path) => Place;
  /** Where a member's name stands. */
  readonly placeOfKey: (path: Path) => Place;
  /** How a member is called in a fault. */
  readonly nameOf: (path: Path) => string;
}

/** Parses one YAML document. `firstLine` is the line of the file at which the text begins (front matter: 2). */
export function parseYamlFile(file: string, text: string, firstLine = 1): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
    merge: true,
  });
  const placeAt = (offset: number): Place => {
    const position = lines.linePos(offset);
    return { file, line: position.line + firstLine - 1, column: position.col };
  };
  const problems = [...document.errors, ...document.warnings];
  return {
    file,
    value: document.errors.length === 0 ? document.toJS() : undefined,
    faults: problems.map((problem) => faultAt(placeAt(problem.pos[0]), problem.message, 'correct the YAML here')),
    placeOf: (path) => placeAt(walk(document.contents, path).value),
    placeOfKey: (path) => placeAt(walk(document.contents, path).key),
    nameOf: (path) => path.join('.'),
  };
}

/** Offsets of a member's name and value, as deep as the document has it. */
function walk(root: Node | null, path: Path): { key: number; value: number } {
  let node: unknown = root;
  let found = { key: startOf(root) ?? 0, value: startOf(root) ?? 0 };
  for (const member of path) {
    if (isSeq(node) && typeof member === 'number') {
      node = node.items[member];
      const start = startOf(node);
      if (start === undefined) return found;
      found = { key: start, value: start };
    } else if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && String(item.key) === String(member));
      if (pair === undefined) return found;
      const key = startOf(pair.key) ?? found.value;
      node = pair.value;
      found = { key, value: startOf(node) ?? key };
    } else {
      return found;
    }
  }
  return found;
}

function startOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}
