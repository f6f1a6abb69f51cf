import { describe, expect, it } from 'vitest';
import { splitShots } from '../../src/functions/script/shots.ts';
import { readOutline } from '../../src/functions/deck/outline.ts';
import { readKeywordLines, replacePlaceholders } from '../../src/functions/text/fill-placeholders.ts';
import { normalizeWord } from '../../src/bitable/words.ts';
import { busyTexts } from './busy-texts.ts';
import { createRedactor } from '../../src/monitor/index.ts';
import { maskText } from '../../src/providers/http/index.ts';
import { safeFileName } from '../../src/media/file-name.ts';
import { cleanFileName } from '../../src/feishu/file-name.ts';
import { Secret } from '../../src/kernel/index.ts';

const redactor = createRedactor([new Secret('canary-secret')]);

/** Whoever reads text that others wrote: cells of 100,000 characters, answers, vendors' error pages. */
const readers: readonly (readonly [string, (text: string) => unknown])[] = [
  ['shots of a script', splitShots],
  ['keyword lines', readKeywordLines],
  ['placeholders', (text) => replacePlaceholders(text, { a: 'b' })],
  ['an outline', async (text) => await readOutline({ text }, new AbortController().signal)],
  ['a word of 操作', normalizeWord],
  ['the log', (text) => redactor.text(text)],
  ['vendors’ words', (text) => maskText(text, ['canary-secret'])],
  ['names of results', (text) => safeFileName(text, 'png', 'abc')],
  ['names of attachments', cleanFileName],
];

describe.each(readers)('%s', (_name, reader) => {
  it.each(Object.entries(busyTexts))('keep nobody busy with %s', async (_what, text) => {
    const startedMs = performance.now();
    await reader(text);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
