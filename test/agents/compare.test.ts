import { describe, expect, it } from 'vitest';
import { createMemoryFiles, withPromptFrom } from '../../src/config/index.ts';
import { renderComparison } from '../../src/functions/index.ts';
import { shippedText } from '../config/installation.ts';
import { definitions, redLines } from './shipped.ts';
import { openStudio } from './studio.ts';

const text = shippedText('config/prompts/try-on-film.md');

describe('two versions of a prompt', () => {
  it('are read from a file outside, with the red lines in it, and replace the one of the same name', async () => {
    const files = createMemoryFiles({
      'drafts/film-2.md': text.replace('version: 1', 'version: 2').replace('竖屏', '横屏'),
    });
    const made = await withPromptFrom(files, 'drafts/film-2.md', { definitions, redLines });
    expect(made.ok && made.value.prompt.body).toContain('横屏');
    expect(made.ok && made.value.definitions.prompts.get('try-on-film')?.version).toBe(2);
    for (const phrase of redLines.avoid) expect(made.ok && made.value.prompt.avoid).toContain(phrase);
    expect(definitions.prompts.get('try-on-film')?.body).toContain('竖屏');
  });

  it('are refused with a place when the file is wrong or names nobody', async () => {
    const files = createMemoryFiles({
      'a.md': text.replace('{{script}}', '{{scrpt}}'),
      'b.md': text.replace('prompt: try-on-film', 'prompt: try-on-flim'),
    });
    const current = { definitions, redLines };
    const misspelt = await withPromptFrom(files, 'a.md', current);
    expect(misspelt.ok ? '' : misspelt.failure.map((fault) => fault.what).join()).toContain('{{scrpt}}');
    const stranger = await withPromptFrom(files, 'b.md', current);
    expect(stranger.ok ? '' : stranger.failure[0]?.advice).toBe('did you mean "try-on-film"?');
    expect((await withPromptFrom(files, 'none.md', current)).ok).toBe(false);
  });

  it('stand side by side in one page that holds its pictures and runs nothing', async () => {
    const studio = openStudio(() => '');
    const picture = await studio.picture('result');
    const run = (words: string, files: boolean) => ({
      status: 'succeeded',
      costCny: '0.6390',
      seconds: 12.34,
      outputs: [{ name: 'plan', text: words }, ...(files ? [{ name: 'image', files: [picture] }] : [])],
    });
    const html = await renderComparison(
      {
        title: 'try-on-film 1 | 2',
        versions: [
          { name: 'version 1', prompt: 'old' },
          { name: 'version 2', prompt: 'new <b>' },
        ],
        rows: [{ input: '{"request":"再亮一点"}', runs: [run('<script>alert(1)</script>', true), run('方案', false)] }],
      },
      async (file) => await studio.bytesOf(file),
    );
    expect(html).toContain('data:image/png;base64,');
    expect(html).toContain('¥0.6390 · 12.3 s');
    expect(html).not.toContain('<script>');
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/src="http|href="http/);
  });
});
