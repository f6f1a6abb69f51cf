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
    // Faults are ours to tell; the parser's own warnings would go to the terminal.
    logLevel: 'error',
  });
  const placeAt = (offset: number): Place => {
    const position = lines.linePos(offset);
    return { file, line: position.line + firstLine - 1, column: position.col };
  };
  const problems = [...document.errors, ...document.warnings].map((problem) =>
    faultAt(placeAt(problem.pos[0]), problem.message, 'correct the YAML here'),
  );
  const { value, reason } = document.errors.length === 0 ? plainValue(document) : {};
  return {
    file,
    value,
    faults:
      reason === undefined
        ? problems
        : [...problems, faultAt(placeAt(0), reason, 'write the value out in place of it')],
    placeOf: (path) => placeAt(walk(document.contents, path).value),
    placeOfKey: (path) => placeAt(walk(document.contents, path).key),
    nameOf: (path) => path.join('.'),
  };
}

/** The document as plain JSON; aliases that multiply, or that hold themselves, have no such value. */
function plainValue(document: { toJS(): unknown }): { readonly value?: unknown; readonly reason?: string } {
  try {
    const value = document.toJS();
    JSON.stringify(value);
    return { value };
  } catch (cause) {
    return { reason: `the anchors and aliases of this file cannot be followed (${messageOf(cause)})` };
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
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
