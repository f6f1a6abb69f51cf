import { z } from 'zod';
import type { MediaSource } from '../../contract/index.ts';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';
import type { DeckPage } from './draw-deck.ts';

const page = z.looseObject({
  title: z.string(),
  bullets: z.array(z.string()),
  notes: z.string().nullish(),
});

const input = z.strictObject({
  topic: z.string(),
  outline: z.array(z.looseObject({ number: z.int(), title: z.string(), points: z.array(z.string()) })).min(1),
  /** Written pages in the outline's order; where one is missing (null), its outline stands in. */
  pages: z.array(page.nullish()).nullish(),
  name: z.string().optional(),
});

/** `deck.pptx {topic, outline, pages, name?}` → `{file, pages, from_outline}`: a real .pptx, one slide a page and a title slide. */
export function createDeckFile(media: MediaSource): NodeFunction {
  return defineFunction('deck.pptx', input, async ({ topic, outline, pages, name }) => {
    const slides = outline.map((each, index): DeckPage => {
      const written = pages?.[index];
      return written ?? { title: each.title, bullets: [...each.points] };
    });
    const missing = outline.flatMap((each, index) => ((pages?.[index] ?? null) === null ? [each.number] : []));
    const { drawDeck } = await import('./draw-deck.ts');
    const bytes = await drawDeck(topic, slides);
    const kept = await media.keep(bytes, name ?? '演示文稿.pptx');
    if (!kept.ok) return kept;
    return ok({ file: { ...kept.value }, pages: slides.length, from_outline: missing });
  });
}
