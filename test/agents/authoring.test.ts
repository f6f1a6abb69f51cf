import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFunctions, createSharpPictureWorker } from '../../src/functions/index.ts';
import { compile } from '../../src/engine/index.ts';
import { readSamples } from '../../src/config/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { liveEnv, loadGood, root, shipped } from '../config/installation.ts';
import { functions } from './shipped.ts';

const page = readFileSync(join(root, 'docs', 'authoring.md'), 'utf8');
/** Fenced blocks that name a file: what a reader is told to write. */
const files = Object.fromEntries(
  [...page.matchAll(/^```\w+ (config\/\S+)\n([\s\S]*?)^```$/gm)].map((match) => [match[1] ?? '', match[2] ?? '']),
);

describe('docs/authoring.md', () => {
  it('shows an agent that loads, compiles, and runs when its table is named', async () => {
    expect(Object.keys(files)).toHaveLength(6);
    const config = await loadGood({ ...liveEnv, CAPTION_TABLE_ID: 'tblCaption' }, files);
    expect([...config.environment.tables.keys()]).toContain('caption');
    const known = createFunctions({
      redLines: config.redLines,
      pictures: createSharpPictureWorker(),
      media: createMemorySpool(),
    });
    const compiled = compile(config.definitions, { functions: new Set(known.keys()) });
    expect(compiled.ok && compiled.value.plans.has('caption')).toBe(true);
    expect(config.definitions.prompts.get('caption-writer')?.system).toContain(config.redLines.rules[0]);
  });

  it('shows sample rows that are read', async () => {
    const read = await readSamples(shipped(files));
    expect(read.faults).toEqual([]);
    expect(read.samples.get('caption')).toHaveLength(1);
  });

  it('names every function that there is', () => {
    for (const name of functions.keys()) expect(page, name).toContain(`\`${name}\``);
  });

  it('would notice a slip in the walk: the check finds a misspelt member', async () => {
    const broken = {
      ...files,
      'config/workflows/caption.yaml': files['config/workflows/caption.yaml']!.replace('output.title', 'output.titel'),
    };
    const config = await loadGood({}, broken);
    const compiled = compile(config.definitions);
    expect(compiled.ok ? [] : compiled.failure.map((fault) => fault.what).join()).toContain('titel');
  });
});
