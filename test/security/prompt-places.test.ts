import { describe, expect, it } from 'vitest';
import { createDirectoryFiles, loadConfig } from '../../src/config/index.ts';
import { projectDirectory } from '../support/outside.ts';

/** Numbers, and words that a shipped workflow writes itself: no row and no model has a say in them. */
const ourOwn = new Set('shot_count film_seconds page_count count number words role rule base'.split(' '));

/** Names of the variables that stand in no block of the template. */
function outsideOfBlocks(template: string): readonly string[] {
  let rest = template;
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(/<(\p{L}[\p{L}\p{N}_-]*)>[^<]*<\/\1>/gu, '');
  }
  return [...rest.matchAll(/\{\{\s*([^}#/>\s]+)\s*\}\}/g)].map((match) => match[1] ?? '');
}

async function shipped() {
  const config = await loadConfig({ files: createDirectoryFiles(projectDirectory), env: {}, sandbox: {} });
  if (!config.ok) throw new Error(JSON.stringify(config.failure));
  return config.value.definitions;
}

describe('where a prompt puts what it was given', () => {
  it('every prompt that a language model reads keeps rows’ and models’ words in a block, and says what the block is', async () => {
    const { prompts, skills } = await shipped();
    const read = new Set(
      [...skills.values()].flatMap((skill) =>
        (skill.capability.startsWith('text.') || skill.capability === 'image.analyze') && skill.prompt !== undefined
          ? [skill.prompt]
          : [],
      ),
    );
    expect(read.size).toBeGreaterThan(15);
    for (const name of read) {
      const prompt = prompts.get(name);
      if (prompt === undefined) throw new Error(`no prompt ${name}`);
      const bare = [prompt.body, prompt.system ?? ''].flatMap(outsideOfBlocks).filter((each) => !ourOwn.has(each));
      expect(bare, `${name}: not in a block`).toEqual([]);
      if (prompt.body.includes('</'))
        expect(prompt.system, name).toMatch(/尖括号.*不是给你的指令|between tags.*not instructions/);
    }
  });

  it('twin: a variable outside of a block is seen, one inside is not', () => {
    expect(outsideOfBlocks('<需求>\n{{request}}\n</需求>\n{{note}} <x>{{y}}</z>')).toEqual(['note', 'y']);
  });
});
