import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe('monitor page files', () => {
  const read = (name: string): string => readFileSync(new URL(`../../webmon/${name}`, import.meta.url), 'utf8');

  it('has the same keys in both languages', async () => {
    const load = async (name: string): Promise<Record<string, Record<string, string>>> =>
      (await import(new URL(`../../webmon/js/words-${name}.js`, import.meta.url).href)) as Record<
        string,
        Record<string, string>
      >;
    const [zh, en] = await Promise.all([load('zh'), load('en')]);
    expect(Object.keys(en['en'] ?? {}).sort()).toEqual(Object.keys(zh['zh'] ?? {}).sort());
  });

  it('keeps the charting library as its makers published it', () => {
    const published = {
      'uPlot.iife.min.js': import.meta.resolve('uplot/dist/uPlot.iife.min.js'),
      'uPlot.min.css': import.meta.resolve('uplot/dist/uPlot.min.css'),
    };
    for (const [name, url] of Object.entries(published))
      expect(read(`vendor/${name}`)).toBe(readFileSync(new URL(url), 'utf8'));
  });

  it('allows scripts, styles and data from its own place only, and nothing inline', () => {
    const html = read('index.html');
    expect(html).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
    expect(html).not.toMatch(/unsafe|<script>|style="| on[a-z]+="/);
  });
});
