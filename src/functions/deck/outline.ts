import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction, refuseInput } from '../define.ts';

interface OutlinePage {
  readonly number: number;
  readonly title: string;
  readonly points: readonly string[];
}

const maxPages = 30;
const pageMark =
  /^\s*(?:#+\s*)?(?:第\s*([0-9一二三四五六七八九十]+)\s*页|(?:page|slide)\s*(\d+)|(\d{1,2})\s*[.、）)])\s*[:：.\s]*\s*(.*)$/i;

/** `outline.write {pages}` → `{text}`: the outline as staff read and edit it. */
export const writeOutline: NodeFunction = defineFunction(
  'outline.write',
  z.strictObject({ pages: z.array(z.looseObject({ title: z.string(), points: z.array(z.string()) })).min(1) }),
  ({ pages }) => {
    const parts = pages.map((page, index) =>
      [`第${index + 1}页：${page.title.trim()}`, ...page.points.map((point) => `- ${point.trim()}`)].join('\n'),
    );
    return Promise.resolve(ok({ text: parts.join('\n\n') }));
  },
);

/** `outline.read {text}` → `{pages, count}`: the outline as staff left it; pages are numbered by their order. */
export const readOutline: NodeFunction = defineFunction(
  'outline.read',
  z.strictObject({ text: z.string() }),
  ({ text }) => {
    const pages = splitOutline(text);
    if (pages.length === 0) {
      const advice = '「大纲」里没有认出页，请每页写成「第1页：标题」，下面用「- 要点」列出内容，再选「通过」。';
      return Promise.resolve(refuseInput('outline-without-pages', 'no pages in the outline', advice));
    }
    if (pages.length > maxPages) {
      const advice = `「大纲」有 ${pages.length} 页，最多 ${maxPages} 页，请删减后再选「通过」。`;
      return Promise.resolve(refuseInput('outline-too-long', `${pages.length} pages`, advice));
    }
    const plain = pages.map((page) => ({ ...page, points: [...page.points] }));
    return Promise.resolve(ok({ pages: plain, count: plain.length }));
  },
);

function splitOutline(text: string): readonly OutlinePage[] {
  const pages: { number: number; title: string; points: string[] }[] = [];
  for (const line of text.split(/\r?\n/)) {
    const match = pageMark.exec(line);
    if (match !== null) pages.push({ number: pages.length + 1, title: (match[4] ?? '').trim(), points: [] });
    else if (line.trim() !== '') pages.at(-1)?.points.push(line.trim().replace(/^[-*•·]\s*/, ''));
  }
  return pages
    .filter((page) => page.title !== '' || page.points.length > 0)
    .map((page, index) => ({
      ...page,
      number: index + 1,
      title: page.title === '' ? (page.points[0] ?? '') : page.title,
    }));
}
