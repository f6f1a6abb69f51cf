import library from 'pptxgenjs';
import { fixDates } from './fixed-dates.ts';

/** The package's types promise a `default` inside the default export; at run time the export is the class itself. */
const Deck: typeof library.default = 'default' in library ? library.default : library;

/** What stands on one slide. */
export interface DeckPage {
  readonly title: string;
  readonly bullets: readonly string[];
  readonly notes?: string | null | undefined;
}

const colors = { ink: '1F2A44', accent: '2F6FED', soft: '5B6780', paper: 'FFFFFF', band: 'EEF3FE' } as const;
/** Fonts that Windows, macOS and WPS have for Chinese; a viewer without it takes its own. */
const font = 'Microsoft YaHei';

/** Slides of 13.33 × 7.5 inches (16:9), the same bytes for the same slides. */
export async function drawDeck(topic: string, pages: readonly DeckPage[]): Promise<Uint8Array> {
  const deck = new Deck();
  deck.layout = 'LAYOUT_WIDE';
  deck.title = topic;
  deck.author = 'Gridloom';
  drawTitle(deck, topic, pages.length);
  pages.forEach((page, index) => {
    drawPage(deck, page, `${index + 1} / ${pages.length}`);
  });
  const written = await deck.write({ outputType: 'uint8array' });
  if (!(written instanceof Uint8Array)) throw new Error('the slide library gave no bytes');
  fixDates(written);
  return written;
}

function drawTitle(deck: InstanceType<typeof Deck>, topic: string, count: number): void {
  const slide = deck.addSlide();
  slide.background = { color: colors.band };
  slide.addShape('rect', { x: 0.8, y: 3.0, w: 0.12, h: 1.5, fill: { color: colors.accent } });
  slide.addText(topic, {
    x: 1.2,
    y: 2.6,
    w: 11,
    h: 1.4,
    fontFace: font,
    fontSize: 40,
    bold: true,
    color: colors.ink,
    valign: 'middle',
    fit: 'shrink',
  });
  slide.addText(`共 ${count} 页`, { x: 1.2, y: 4.0, w: 11, h: 0.6, fontFace: font, fontSize: 18, color: colors.soft });
}

function drawPage(deck: InstanceType<typeof Deck>, page: DeckPage, footer: string): void {
  const slide = deck.addSlide();
  slide.background = { color: colors.paper };
  slide.addShape('rect', { x: 0, y: 0, w: 13.33, h: 0.14, fill: { color: colors.accent } });
  slide.addText(page.title, {
    x: 0.7,
    y: 0.45,
    w: 11.9,
    h: 0.9,
    fontFace: font,
    fontSize: 28,
    bold: true,
    color: colors.ink,
    valign: 'middle',
    fit: 'shrink',
  });
  const size = page.bullets.length > 6 ? 16 : page.bullets.length > 4 ? 18 : 20;
  const lines = page.bullets.map((text) => ({
    text,
    options: { bullet: { indent: 18 }, breakLine: true, paraSpaceAfter: 10 },
  }));
  if (lines.length > 0) {
    slide.addText(lines, {
      x: 0.8,
      y: 1.6,
      w: 11.7,
      h: 5.2,
      fontFace: font,
      fontSize: size,
      color: colors.ink,
      valign: 'top',
      fit: 'shrink',
    });
  }
  slide.addText(footer, {
    x: 11.6,
    y: 7.0,
    w: 1.2,
    h: 0.35,
    fontFace: font,
    fontSize: 10,
    color: colors.soft,
    align: 'right',
  });
  if (page.notes !== null && page.notes !== undefined && page.notes.trim() !== '') slide.addNotes(page.notes);
}
