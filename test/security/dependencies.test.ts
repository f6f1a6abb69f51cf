import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { projectDirectory } from '../support/outside.ts';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.unknown().optional(),
      dev: z.boolean().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
    }),
  ),
});
const read = (file: string): string => readFileSync(join(projectDirectory, file), 'utf8');
const packages = Object.entries(lockSchema.parse(JSON.parse(read('package-lock.json'))).packages).filter(
  ([path]) => path !== '',
);

/** Read in the packages themselves, whose metadata does not say it in one word. */
const readByHand: Readonly<Record<string, string>> = {
  'cli-tableau': 'MIT',
  tv4: 'MIT',
};

/** Free to use and to pass on with our program. Weak copyleft is fine for files that we do not change. */
const taken = new Set([
  ...['MIT', 'ISC', 'Apache-2.0', 'Apache-2', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'CC0-1.0', 'Public Domain'],
  ...['BlueOak-1.0.0', 'Python-2.0', 'MPL-2.0', 'Zlib', 'LGPL-3.0-or-later', 'CC-BY-4.0', 'Unlicense'],
]);
/** Others, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  pm2: 'AGPL-3.0: a program of its own that starts ours; never imported',
};

const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '');
function licenceOf(path: string, license: unknown): string {
  return typeof license === 'string' ? license : (readByHand[nameOf(path)] ?? 'unknown');
}

/** `A AND B` needs both, `A OR B` either. */
function isTaken(licence: string): boolean {
  const words = licence.replace(/[()]/g, '');
  if (words.includes(' OR ')) return words.split(' OR ').some((each) => taken.has(each.trim()));
  return words.split(' AND ').every((each) => taken.has(each.trim()));
}

describe('dependencies', () => {
  it('come under licences that we may use, all of them, those of their dependencies included', () => {
    const others = packages
      .map(([path, { license }]) => [nameOf(path), licenceOf(path, license)] as const)
      .filter(([name, licence]) => !isTaken(licence) && exceptions[name] === undefined);
    expect(others).toEqual([]);
    expect(packages.length).toBeGreaterThan(200);
  });

  it('twin: a licence that is not on the list is seen', () => {
    expect(isTaken('AGPL-3.0')).toBe(false);
    expect(isTaken('MIT AND GPL-3.0')).toBe(false);
    expect(isTaken('(MIT OR GPL-3.0-or-later)')).toBe(true);
    expect(licenceOf('node_modules/nobody', undefined)).toBe('unknown');
  });

  it('the program under AGPL is never imported', () => {
    const files = readdirSync(join(projectDirectory, 'src'), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((name) => name.endsWith('.ts')).map((name) => read(join('src', name)));
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((text) => /(from|import\(|require\()\s*'pm2/.test(text))).toEqual([]);
  });

  it('are pinned exactly, come with a checksum, and run no code when they are installed', () => {
    const manifest = z
      .object({ dependencies: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
    const unchecked = packages.filter(([path, each]) => each.integrity === undefined && path.includes('node_modules/'));
    expect(unchecked.map(([path]) => path)).toEqual([]);
    expect(read('.npmrc')).toContain('ignore-scripts=true');
  });

  it('are listed with their licences', () => {
    const groups = new Map<string, Set<string>>();
    for (const [path, { license, dev }] of packages) {
      if (dev === true) continue;
      const licence = licenceOf(path, license);
      groups.set(licence, (groups.get(licence) ?? new Set()).add(nameOf(path)));
    }
    const lines = [...groups]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([licence, names]) => `## ${licence}\n\n${[...names].sort().join(', ')}\n`);
    const head =
      '# Licences of what is installed on a server\n\nMade by `npx vitest run test/security/dependencies.test.ts --update` from the lock file.\n';
    return expect([head, ...lines].join('\n')).toMatchFileSnapshot(join(projectDirectory, 'docs', 'licences.md'));
  });
});
