import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createDirectoryFiles,
  createMemoryFiles,
  formatFault,
  loadConfig,
  renderSchemas,
  writeSchemas,
} from '../../src/config/index.ts';
import { faultsOf, loadGood, root, shippedText } from './installation.ts';

const edit = (file: string, from: string, to: string): Record<string, string> => {
  const text = shippedText(file);
  if (!text.includes(from)) throw new Error(`no "${from}" in ${file}`);
  return { [file]: text.replace(from, to) };
};
const agent = 'config/agents/try-on.yaml';

describe('definitions', () => {
  it('tells faults of several files at once, sorted by place', async () => {
    const faults = await faultsOf(
      {},
      {
        ...edit(agent, 'workflow: try-on-film', 'workflow: try-on-flim'),
        ...edit('config/skills/try-on-film.yaml', 'capability: video.generate', 'capabilty: video.generate'),
        ...edit('config/prompts/try-on-film.md', '{{script}}', '{{scrpt}}'),
        'config/workflows/broken.yaml': 'workflow: broken\n  nodes: [\n',
      },
    );
    const text = faults.join('\n');
    expect(text).toContain('there is no workflow "try-on-flim"  did you mean "try-on-film"?');
    expect(text).toMatch(
      /config\/skills\/try-on-film\.yaml:5:1 {2}unknown key "capabilty" {2}did you mean "capability"/,
    );
    expect(text).toMatch(
      /config\/prompts\/try-on-film\.md:\d+:1 {2}"\{\{scrpt\}\}" is not declared {2}did you mean "script"/,
    );
    expect(text).toMatch(/config\/workflows\/broken\.yaml:1:11 /);
    expect([...faults]).toEqual(
      [...faults].sort((left, right) =>
        left.split(':')[0]! < right.split(':')[0]! ? -1 : left.split(':')[0]! > right.split(':')[0]! ? 1 : 0,
      ),
    );
  });

  it.each([
    ['$.inputs.product_notes', '$.inputs.product_note', 'did you mean "product_notes"?'],
    ['script: $.artifacts.脚本方案', 'script: $.artifacts.脚本', 'no stage up to here makes "脚本"'],
    [
      '      staff_note: $.feedback\n    artifacts:\n      - { column: 上身图',
      '      staff_note: $.rows\n    artifacts:\n      - { column: 上身图',
      '"$.rows" does not exist here  use $.inputs.…, $.artifacts.…, $.feedback or $.row',
    ],
    ['from: portrait,', 'from: potrait,', 'did you mean "portrait"?'],
    ['setting: SB_CONFIRM', 'setting: SB_CONFRIM', 'did you mean "SB_CONFIRM"?'],
    [
      '      staff_note: $.feedback\n    artifacts:\n      - { column: 上身图',
      '      stuff: $.feedback\n    artifacts:\n      - { column: 上身图',
      'has no input "stuff"',
    ],
    [
      '      product_images: $.inputs.product_images\n      product_notes',
      '      product_notes',
      'needs "product_images"',
    ],
    ['column: 分镜图', 'column: 上身图', 'already used by'],
  ])('checks what an agent names: %j as %j', async (from, to, expected) => {
    expect((await faultsOf({}, edit(agent, from, to))).join('\n')).toContain(expected);
  });

  it('P159 refuses a node that may outlast its run', async () => {
    const faults = await faultsOf(
      {},
      edit(
        'config/workflows/try-on-film.yaml',
        '    skill: try-on-film\n',
        '    skill: try-on-film\n    timeout: 4h\n',
      ),
    );
    expect(faults.join('\n')).toMatch(/timeout of "shoot" \(4h\) is longer than the run's deadline \(3h\)/);
  });

  it('refuses two definitions of one name', async () => {
    const copy = { 'config/skills/copy.yaml': shippedText('config/skills/try-on-film.yaml') };
    expect((await faultsOf({}, copy)).join('\n')).toContain('"try-on-film" is already defined in');
  });

  it('refuses a key that stands in the file', async () => {
    const faults = await faultsOf({}, edit('config/providers.yaml', '${KIE_API_KEY:-}', 'sk-12345'));
    expect(faults.join('\n')).toMatch(/config\/providers\.yaml:\d+:\d+ {2}a key stands in the file/);
  });

  it('finds the place of a fault that the compiler names by path', async () => {
    const config = await loadGood();
    const at = (kind: 'workflow' | 'provider', name: string, path: readonly string[]): string =>
      formatFault(config.locateFault({ of: { kind, name }, path, what: 'w', advice: 'a' }));
    expect(at('workflow', 'try-on-film', ['nodes', 'shoot', 'skill'])).toMatch(
      /^config\/workflows\/try-on-film\.yaml:\d+:12 {2}w {2}a$/,
    );
    expect(at('provider', 'kie', ['models', 'kling-3'])).toMatch(/^config\/providers\.yaml:\d+:\d+ {2}/);
  });

  it('names missing files instead of throwing', async () => {
    const loaded = await loadConfig({ files: createMemoryFiles({}), env: {} });
    expect(loaded.ok).toBe(false);
    const text = loaded.ok ? '' : loaded.failure.map(formatFault).join('\n');
    for (const file of ['config/gridloom.yaml', 'config/providers.yaml', 'config/prompts/red-lines.yaml']) {
      expect(text).toContain(`${file}:1:1  the file is missing`);
    }
  });

  it('names its schema in every file, and the schema is there', async () => {
    const files = createDirectoryFiles(root);
    const yaml = await files.list('config', '.yaml');
    expect(yaml.length).toBeGreaterThan(40);
    for (const file of [...yaml, ...(await files.list('config/prompts', '.md'))]) {
      const text = (await files.read(file)) ?? '';
      const named = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)?.[1] ?? '';
      const schema = posix.join(posix.dirname(file), named);
      expect(schema, file).toMatch(/^config\/schema\/[a-z-]+\.json$/);
      expect(renderSchemas().has(posix.basename(schema)), file).toBe(true);
    }
  });

  it('keeps the published schemas current (UPDATE_SCHEMAS=1 writes them)', async () => {
    if (process.env['UPDATE_SCHEMAS'] === '1') await writeSchemas(root);
    for (const [name, text] of renderSchemas()) {
      expect(shippedText(`config/schema/${name}`), `${name}: run the test once with UPDATE_SCHEMAS=1`).toBe(text);
    }
  });
});
