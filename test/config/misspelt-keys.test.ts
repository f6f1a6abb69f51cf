import { describe, expect, it } from 'vitest';
import { createDirectoryFiles } from '../../src/config/index.ts';
import { createSeededRandom, randomInt } from '../../src/kernel/index.ts';
import { faultsOf, root, shippedText } from './installation.ts';

/** Keys that are names of the author's own (nodes, columns, variables, members of data): any word is right there. */
const free =
  /^\s*(nodes|input|output|inputs|properties|variables|columns|branches|cells|pictures|values|preset|sections|defaults|params|models|fields|map|when|items|schema|value|tokens|colors|typography):/;

/** Lines whose key the schemas know, as `[file, line]`: those that stand directly below a definition's own members. */
async function knownKeyLines(): Promise<readonly (readonly [string, number])[]> {
  const disk = createDirectoryFiles(root);
  const lists = await Promise.all(
    ['agents', 'workflows', 'skills'].map((folder) => disk.list(`config/${folder}`, '.yaml')),
  );
  return lists.flat().flatMap((file) =>
    shippedText(file)
      .split('\n')
      .flatMap((line, index) =>
        /^(?: {4})?[a-z_]{5,}:/.test(line) && !isBelowFree(file, index) ? [[file, index] as const] : [],
      ),
  );
}

/** Whether a line stands below one of the free maps (one step in for `nodes`, whose members' members are known again). */
function isBelowFree(file: string, index: number): boolean {
  const lines = shippedText(file).split('\n');
  const depth = (lines[index] ?? '').search(/\S/);
  let limit = depth;
  for (let at = index - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    const indent = line.search(/\S/);
    if (indent < 0 || indent >= limit) continue;
    limit = indent;
    if (/^nodes:/.test(line)) return depth !== 4;
    if (free.test(line)) return true;
  }
  return false;
}

describe('a misspelt key', () => {
  it('is told with its line, wherever it stands', async () => {
    const random = createSeededRandom(20261130);
    const lines = await knownKeyLines();
    expect(lines.length).toBeGreaterThan(300);
    for (let round = 0; round < 40; round += 1) {
      const [file, index] = lines[randomInt(random, lines.length)]!;
      const text = shippedText(file).split('\n');
      const line = text[index] ?? '';
      const key = line.trim().split(':')[0] ?? '';
      const drop = 1 + randomInt(random, key.length - 2);
      const misspelt = key.slice(0, drop) + key.slice(drop + 1);
      text[index] = line.replace(key, misspelt);
      const faults = await faultsOf({}, { [file]: text.join('\n') });
      const told = faults.filter((fault) => fault.startsWith(`${file}:${index + 1}:`));
      expect(told.join('\n'), `${file}:${index + 1} ${key} → ${misspelt}\n${faults.join('\n')}`).toContain(`"${key}"`);
    }
  });
});
