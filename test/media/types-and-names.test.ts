import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createSharpFitter, safeFileName, sniffType } from '../../src/media/index.ts';
import { fuzzRuns } from '../providers/fuzz-runs.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('what bytes are', () => {
  it.each([
    ['\u0089PNG\r\n\u001a\n', 'image/png', 'image'],
    ['\u00ff\u00d8\u00ff\u00e0', 'image/jpeg', 'image'],
    ['GIF89a', 'image/gif', 'image'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp', 'image'],
    ['\0\0\0\u001cftypavif\0\0\0\0', 'image/avif', 'image'],
    ['\0\0\0\u001cftypmif1\0\0\0\0mif1avif', 'image/avif', 'image'],
    ['\0\0\0\u001cftypheic\0\0\0\0', 'image/heic', 'image'],
    ['\0\0\0\u001cftypisom\0\0\0\0', 'video/mp4', 'video'],
    ['\0\0\0\u001cftypqt  \0\0\0\0', 'video/quicktime', 'video'],
    ['\u001aE\u00df\u00a3', 'video/webm', 'video'],
    ['%PDF-1.7', 'application/pdf', 'file'],
    ['PK\u0003\u0004', 'application/zip', 'file'],
    ['  {"a":1}', 'application/json', 'file'],
    ['<!DOCTYPE html>', 'text/html', 'file'],
    ['hello', 'text/plain', 'file'],
  ])('%j is %s', (head, mime, media) => {
    expect(sniffType(bytes(head))).toMatchObject({ mime, media });
  });

  it('tells a presentation from another archive by its name alone', () => {
    expect(sniffType(bytes('PK\u0003\u0004'), '演示.pptx')?.extension).toBe('pptx');
  });

  it('knows nothing of other bytes, and never throws', () => {
    expect(sniffType(Buffer.from([0, 1, 2, 3]))).toBeUndefined();
    expect(sniffType(Buffer.alloc(0))).toBeUndefined();
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.constantFrom('', '\u0089PNG', 'RIFF', '\0\0\0\u0018ftyp', 'GIF8'),
        (tail, start) => {
          const type = sniffType(Buffer.concat([bytes(start), tail]));
          expect(type === undefined || /^[a-z]+\/[\w.-]+$/.test(type.mime)).toBe(true);
        },
      ),
      fuzzRuns(2_000),
    );
  });
});

describe('file names', () => {
  it.each([
    ['https://v.example/f/9b1c2', '9b1c2.png'],
    ['https://v.example/f/a.bin', 'a.png'],
    ['https://v.example/f/a.png?x=1', 'a.png'],
    ['https://v.example/f/a.jpeg!thumb', 'a.png'],
    ['https://v.example/f/%E6%B5%8B%E8%AF%95.webp', '测试.png'],
    ['https://v.example/', 'tag.png'],
    ['上身图', '上身图.png'],
    ['', 'tag.png'],
    ['...', 'tag.png'],
  ])('P177 P037 "%s" becomes %s', (hint, name) => {
    expect(safeFileName(hint, 'png', 'tag')).toBe(name);
  });

  it.each([
    ['测试——第1集（2026-03-02）"终版"\n.mp4', '测试——第1集（2026-03-02）终版.mp4'],
    ['🎬片头.mp4', '🎬片头.mp4'],
    ['a\\b.mp4', 'ab.mp4'],
  ])('P037 keeps %j readable', (hint, name) => {
    expect(safeFileName(hint, 'mp4', 'tag')).toBe(name);
  });

  it('P039 cuts long names between graphemes, keeps the extension, and keeps two shots apart', () => {
    const title = `${'长'.repeat(227)}👩‍👩‍👧‍👦${'长'.repeat(70)}`;
    const [one, two] = [safeFileName(title, 'mp4', 'aaaaaaaa'), safeFileName(title, 'mp4', 'bbbbbbbb')];
    expect(one.length).toBeLessThanOrEqual(250);
    expect(one).toMatch(/长(👩‍👩‍👧‍👦)?-aaaaaaaa\.mp4$/u);
    expect(one).not.toBe(two);
  });

  it('P039 gives a safe name for any hint', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (hint) => {
        const name = safeFileName(hint, 'png', 'tag');
        expect(name.length).toBeLessThanOrEqual(250);
        expect(name).toMatch(/.\.png$/su);
        expect(name).not.toMatch(/[/\\"\r\n\0]|^\./);
      }),
      fuzzRuns(2_000),
    );
  });
});

describe('pictures are made to fit', () => {
  const fit = createSharpFitter();
  const limits = { maxSidePx: 2_048, maxBytes: 500_000, mimes: ['image/jpeg', 'image/png'] };
  const picture = async (side: number): Promise<Buffer> =>
    await sharp({
      create: {
        width: side,
        height: side / 2,
        channels: 4,
        background: { r: 1, g: 2, b: 3, alpha: 0 },
        noise: { type: 'gaussian', mean: 100, sigma: 60 },
      },
    })
      .png()
      .toBuffer();

  it('leaves alone what fits already', async () => {
    const small = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#f00' } })
      .png()
      .toBuffer();
    expect(await fit(small, 'image/png', limits)).toEqual({ ok: true, value: { bytes: small, mime: 'image/png' } });
  });

  it('scales down and makes a JPEG of what is too large, within both limits', async () => {
    const got = await fit(await picture(3_000), 'image/png', limits);
    if (!got.ok) throw new Error(got.failure.message);
    const { width, height, format } = await sharp(got.value.bytes).metadata();
    expect(format).toBe('jpeg');
    expect(Math.max(width, height)).toBeLessThanOrEqual(2_048);
    expect(Math.abs(width / height - 2)).toBeLessThan(0.02);
    expect(got.value.bytes.byteLength).toBeLessThanOrEqual(limits.maxBytes);
  });

  it('turns a type that the vendor does not take into one that it does', async () => {
    const webp = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#0f0' } })
      .webp()
      .toBuffer();
    expect(await fit(webp, 'image/webp', limits)).toMatchObject({ ok: true, value: { mime: 'image/jpeg' } });
  });

  it('P107 fails, and never throws, for a tiny WebP, a cut JPEG head, or no picture at all', async () => {
    const cases = [bytes('RIFF$\0\0\0WEBPVP8 '), bytes('\u00ff\u00d8\u00ff\u00e0'), bytes('nothing'), Buffer.alloc(0)];
    for (const each of cases) expect(await fit(each, 'image/webp', limits)).toMatchObject({ ok: false });
  });

  it('P107 still reads a JPEG that was cut off in the middle', async () => {
    const whole = await sharp(await picture(2_600))
      .flatten()
      .jpeg()
      .toBuffer();
    expect(await fit(whole.subarray(0, whole.byteLength / 2), 'image/jpeg', limits)).toMatchObject({ ok: true });
  });

  it('survives headers that lie', async () => {
    const good = await sharp({ create: { width: 32, height: 32, channels: 3, background: '#00f' } })
      .png()
      .toBuffer();
    await fc.assert(
      fc.asyncProperty(fc.nat(good.byteLength - 1), fc.nat(255), async (at, value) => {
        const bad = Buffer.from(good);
        bad[at] = value;
        const got = await fit(bad, 'image/png', { ...limits, maxSidePx: 16 });
        expect(typeof got.ok).toBe('boolean');
      }),
      fuzzRuns(100),
    );
  });
});
