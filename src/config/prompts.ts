import { type PromptDefinition, promptSchema } from '../contract/index.ts';
import { type ConfigFault, faultAt, type Place } from './fault.ts';
import { readBySchema } from './schema-faults.ts';
import { suggestName } from './suggest.ts';
import { parseYamlFile, type YamlFile } from './yaml-file.ts';

/**
 * A prompt file: YAML front matter between two `---` lines, then the template. `{{> name}}` puts a shared text in, at load,
 * so that the engine sees plain templates and the fingerprint covers what was really sent.
 */
export function readPromptFile(
  file: string,
  text: string,
  partials: ReadonlyMap<string, string>,
): { readonly prompt?: PromptDefinition; readonly source: YamlFile; readonly faults: readonly ConfigFault[] } {
  const parts = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text.replace(/^\uFEFF/, ''));
  if (parts === null) {
    const source = parseYamlFile(file, '');
    const place = { file, line: 1, column: 1 };
    return { source, faults: [faultAt(place, 'no front matter', 'begin with "---", the YAML part, and "---" again')] };
  }
  const [, head = '', body = ''] = parts;
  const source = parseYamlFile(file, head, 2);
  if (source.value === undefined) return { source, faults: source.faults };
  const read = readBySchema(source, promptSchema);
  if (read.value === undefined) return { source, faults: read.faults };
  const bodyLine = head.split('\n').length + 3;
  const faults: ConfigFault[] = [];
  const expand = (template: string, placeOf: (offset: number) => Place): string =>
    expandPartials(template, partials, (name, offset) => {
      faults.push(faultAt(placeOf(offset), `there is no shared text "${name}"`, suggestName(name, partials.keys())));
    });
  const { system, avoid, ...rest } = read.value;
  const prompt: PromptDefinition = {
    ...rest,
    ...(system === undefined ? {} : { system: expand(system, () => source.placeOf(['system'])) }),
    ...(avoid === undefined ? {} : { avoid: expand(avoid, () => source.placeOf(['avoid'])) }),
    body: expand(body, (offset) => placeInBody(file, body, offset, bodyLine)).trim(),
  };
  return { prompt, source, faults: [...faults, ...checkVariables(source, prompt, file, body, bodyLine)] };
}

function expandPartials(
  template: string,
  partials: ReadonlyMap<string, string>,
  onUnknown: (name: string, offset: number) => void,
): string {
  return template.replace(/\{\{>\s*([\w.-]+)\s*\}\}/g, (whole, name: string, offset: number) => {
    const text = partials.get(name);
    if (text === undefined) onUnknown(name, offset);
    return text ?? whole;
  });
}

/** Variables that are used must be declared, and the other way round: a misspelt one would be an empty gap in a paid call. */
function checkVariables(
  source: YamlFile,
  prompt: PromptDefinition,
  file: string,
  body: string,
  bodyLine: number,
): readonly ConfigFault[] {
  const declared = Object.keys(prompt.variables);
  const used = new Map<string, Place>();
  for (const [name, offset] of variablesOf(body)) {
    if (!used.has(name)) used.set(name, placeInBody(file, body, offset, bodyLine));
  }
  for (const [name] of variablesOf(prompt.system ?? ''))
    if (!used.has(name)) used.set(name, source.placeOf(['system']));
  for (const [name] of variablesOf(prompt.avoid ?? '')) if (!used.has(name)) used.set(name, source.placeOf(['avoid']));
  const undeclared = [...used].filter(([name]) => !declared.includes(name));
  const unused = declared.filter((name) => !used.has(name));
  return [
    ...undeclared.map(([name, place]) =>
      faultAt(
        place,
        `"{{${name}}}" is not declared`,
        `${suggestName(name, declared)}; or declare it under "variables"`,
      ),
    ),
    ...unused.map((name) =>
      faultAt(
        source.placeOfKey(['variables', name]),
        `variable "${name}" is never used`,
        'use it as {{…}} or remove it',
      ),
    ),
  ];
}

function variablesOf(template: string): readonly (readonly [string, number])[] {
  return [...template.matchAll(/\{\{[#/]?\s*([A-Za-z_]\w*)\s*\}\}/g)].map((match) => [match[1] ?? '', match.index]);
}

function placeInBody(file: string, body: string, offset: number, bodyLine: number): Place {
  const before = body.slice(0, offset).split('\n');
  return { file, line: bodyLine + before.length - 1, column: (before.at(-1)?.length ?? 0) + 1 };
}
