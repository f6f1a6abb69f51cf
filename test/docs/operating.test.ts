import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failureTable } from '../../src/contract/index.ts';

const project = resolve(import.meta.dirname, '..', '..');
const page = await readFile(join(project, 'docs', 'operating.md'), 'utf8');

/** Titles of alerts and notices as they stand in the sources, up to where a name is put in. */
const titlePatterns = [
  /\btitle: ['`]([^'`$：（]+)/g,
  /\balert\('\w+', ['`]([^'`$：（]+)/g,
  /\balert\(\s*'\w+',\s*['`]([^'`$：（]+)/g,
];
const noticePattern = /^ {2}'[a-z-]+': '([^']+)',$/gm;
/** Ends of conditions are said to need nothing, once for all of them. */
const isEnd = (title: string): boolean => /已恢复|账目已对上|恢复稳定/.test(title);

/** Not an alert of its own, but how many of them are told at once. */
const folded = '告警汇总';

async function alertTitles(): Promise<ReadonlySet<string>> {
  const titles = new Set<string>();
  for (const room of ['monitor', 'bitable', 'app']) {
    const folder = join(project, 'src', room);
    for (const name of (await readdir(folder, { recursive: true })).filter((each) => each.endsWith('.ts'))) {
      const text = await readFile(join(folder, name), 'utf8');
      const patterns = name === 'event-words.ts' ? [...titlePatterns, noticePattern] : titlePatterns;
      for (const [, title = ''] of patterns.flatMap((pattern) => [...text.matchAll(pattern)])) {
        if (/\p{Script=Han}/u.test(title)) titles.add(title.trim());
      }
    }
  }
  return titles;
}

describe("the operator's guide", () => {
  it('says what to do about every alert that the program can raise', async () => {
    const titles = await alertTitles();
    // Were the sources read wrongly, nothing would be missing either.
    for (const known of ['有付费调用待核对', '预算已用完', '表格缺少必需的列', '表格写不进去', '主循环异常'])
      expect(titles).toContain(known);
    const rows = page.split('\n').filter((line) => line.startsWith('| '));
    const isInTable = (title: string): boolean => rows.some((row) => row.includes(title));
    expect([...titles].filter((title) => !isEnd(title) && title !== folded && !isInTable(title))).toEqual([]);
    expect(page).toContain(folded);
  });

  it('has every 报错 of the failure table, word for word, with what to do', () => {
    for (const [kind, rule] of Object.entries(failureTable)) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`));
      expect(row, kind).toContain(`| ${rule.staffText} |`);
      expect(row?.split('|')[3]?.trim(), kind).not.toBe('');
    }
  });
});

describe('the staff page', () => {
  it('explains each of the four words and of the six states', async () => {
    const staff = await readFile(join(project, 'docs', 'staff.zh-CN.md'), 'utf8');
    for (const word of ['提交', '通过', '打回', '取消', '生成中', '待确认', '完成', '失败', '待核对', '已取消'])
      expect(staff).toContain(`| ${word} |`);
  });
});

describe('links between the pages', () => {
  it('lead to files that are there', async () => {
    const pages = [
      'README.md',
      'README.zh-CN.md',
      ...(await readdir(join(project, 'docs'))).map((name) => `docs/${name}`),
    ];
    for (const name of pages.filter((each) => each.endsWith('.md'))) {
      const text = await readFile(join(project, name), 'utf8');
      const targets = [...text.matchAll(/\]\(([^)#:]+?)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
      for (const target of targets) {
        const path = resolve(project, name, '..', target);
        await expect(
          readFile(path).catch(() => readdir(path)),
          `${name}: ${target}`,
        ).resolves.toBeDefined();
      }
    }
  });
});
