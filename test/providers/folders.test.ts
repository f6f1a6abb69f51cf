import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { providersFileSchema } from '../../src/contract/index.ts';
import { providerFactories } from '../../src/providers/index.ts';
import { providerWith } from './provider-world.ts';

const root = join(import.meta.dirname, '../../src/providers');
const shared = new Set(['http', 'mapping', 'common']);
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !shared.has(entry.name))
  .map((entry) => entry.name);

const definitions = providersFileSchema.parse(
  parse(readFileSync(join(import.meta.dirname, '../../config/providers.yaml'), 'utf8')),
).providers;

describe('vendor folders all look alike', () => {
  it('has a factory for each folder, and a folder for each factory', () => {
    expect(Object.keys(providerFactories).toSorted()).toEqual(folders.toSorted());
  });

  it.each(folders)('%s has adapter.ts, wire.ts, index.ts and a README with every row', (folder) => {
    for (const file of ['adapter.ts', 'wire.ts', 'index.ts', 'README.md']) {
      expect(existsSync(join(root, folder, file)), `${folder}/${file}`).toBe(true);
    }
    const readme = readFileSync(join(root, folder, 'README.md'), 'utf8');
    for (const row of ['Endpoints', 'Units', 'Limits', 'States', 'Price unit', 'Found again', 'Cancel']) {
      expect(readme).toMatch(new RegExp(`^\\| ${row} +\\|`, 'm'));
    }
  });

  it.each(folders)('%s exports one factory through its door and nothing else', (folder) => {
    const door = readFileSync(join(root, folder, 'index.ts'), 'utf8');
    expect(door).toMatch(/^export \{ (createChatAdapter, )?create\w+Provider \} from '\.\/adapter\.ts';$/m);
  });

  it('gives each adapter a unique name and a version', () => {
    const names = folders.flatMap((folder) =>
      providerWith(folder).provider.adapters.map((adapter) => adapter.implementation),
    );
    const own = names.filter((name) => name !== 'openai-chat');
    expect(new Set(own).size).toBe(own.length);
  });

  it('every configured model names a vendor folder and an adapter there that has its capabilities', () => {
    for (const [account, definition] of Object.entries(definitions)) {
      const { provider } = providerWith(definition.vendor);
      for (const [name, model] of Object.entries(definition.models)) {
        const adapter = provider.adapters.find((each) => each.implementation === model.implementation);
        expect(adapter, `${account}/${name}`).toBeDefined();
        for (const capability of model.capability) expect(adapter?.capabilities).toContain(capability);
      }
    }
  });

  it('every configured video model is silent by default, or its sound cannot be switched off', () => {
    for (const definition of Object.values(definitions)) {
      for (const model of Object.values(definition.models)) {
        if (!model.capability.includes('video.generate')) continue;
        const audio = model.fields?.['audio'];
        expect(audio?.name === '' || audio?.default === false, model.model).toBe(true);
      }
    }
  });
});
