import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import {
  agentSchema,
  promptSchema,
  providersFileSchema,
  settingsSchema,
  skillSchema,
  workflowSchema,
} from '../contract/index.ts';
import { redLinesSchema } from './red-lines.ts';
import { samplesSchema } from './samples.ts';
import { publishedSchema } from './schema-faults.ts';

const published: Readonly<Record<string, { readonly schema: z.ZodType; readonly title: string }>> = {
  agent: { schema: agentSchema, title: 'Gridloom agent (config/agents/*.yaml)' },
  workflow: { schema: workflowSchema, title: 'Gridloom workflow (config/workflows/*.yaml)' },
  skill: { schema: skillSchema, title: 'Gridloom skill (config/skills/*.yaml)' },
  prompt: { schema: promptSchema, title: 'Gridloom prompt, front matter (config/prompts/*.md)' },
  providers: { schema: providersFileSchema, title: 'Gridloom providers (config/providers.yaml)' },
  settings: { schema: settingsSchema, title: 'Gridloom settings (config/gridloom.yaml)' },
  samples: { schema: samplesSchema, title: 'Gridloom sample rows (config/samples/*.yaml)' },
  'red-lines': { schema: redLinesSchema, title: 'Gridloom red lines (config/prompts/red-lines.yaml)' },
};

/** JSON Schemas of every file that people write, by the name of their file below `config/schema`. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(published).map(([name, { schema, title }]) => [
      `${name}.json`,
      `${JSON.stringify({ title, ...publishedSchema(schema) }, null, 2)}\n`,
    ]),
  );
}

/** Writes the schemas for editors; returns the names of those that had to change. */
export async function writeSchemas(directory: string): Promise<readonly string[]> {
  const folder = join(directory, 'config', 'schema');
  await mkdir(folder, { recursive: true });
  const changed: string[] = [];
  for (const [name, text] of renderSchemas()) {
    const path = join(folder, name);
    if ((await readFile(path, 'utf8').catch(() => '')) === text) continue;
    await writeFile(path, text);
    changed.push(name);
  }
  return changed;
}
