import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { artifactSchema } from '../../src/contract/index.ts';
import { createFunctions, createSharpPictureWorker } from '../../src/functions/index.ts';
import { isJsonObject, type JsonObject } from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';

const signal = new AbortController().signal;

async function paint(svg: string, format: 'png' | 'jpeg' = 'png'): Promise<Uint8Array> {
  return await sharp(Buffer.from(svg)).toFormat(format).toBuffer();
}

const picture = (inner: string, back = '#ffffff', width = 600, height = 800): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="${back}"/>${inner}</svg>`;

/** A dark ring with a white middle: the middle is part of the motif, not of the ground. */
const ring = '<circle cx="300" cy="400" r="200" fill="#203070"/><circle cx="300" cy="400" r="90" fill="#ffffff"/>';

function setUp() {
  const spool = createMemorySpool();
  const pictures = createSharpPictureWorker();
  const functions = createFunctions({ redLines: { rules: [], avoid: [] }, pictures, media: spool });
  const run = async (name: string, input: JsonObject): Promise<JsonObject> => {
    const made = await functions.get(name)!(input, signal);
    if (!made.ok) throw new Error(`${made.failure.kind}: ${made.failure.message}`);
    return made.value;
  };
  const keep = async (bytes: Uint8Array, name = 'a.png'): Promise<JsonObject> => {
    const kept = await spool.keep(bytes, name);
    if (!kept.ok) throw new Error(kept.failure.message);
    return { ...kept.value };
  };
  const bytesOf = async (value: unknown): Promise<Uint8Array> => {
    const read = await spool.read(artifactSchema.parse(value), signal);
    if (!read.ok) throw new Error(read.failure.message);
    return read.value;
  };
  return { functions, run, keep, bytesOf, pictures };
}

describe('picture functions', () => {
  it('says what is wrong with a picture: size, ratio, ground and sharpness', async () => {
    const { run, keep } = setUp();
    const busy = `<defs><linearGradient id="g"><stop offset="0" stop-color="#ff0000"/><stop offset="1" stop-color="#00ff00"/></linearGradient></defs><rect width="600" height="800" fill="url(#g)"/>`;
    const checked = await run('picture.check', {
      image: await keep(await paint(picture(busy))),
      min_width: 1024,
      ratio: '1:1',
      ground: 'plain-or-transparent',
      min_sharpness: 4,
    });
    expect(checked['ok']).toBe(false);
    expect(checked['reasons']).toEqual([
      expect.stringContaining('宽度只有 600'),
      expect.stringContaining('比例应为 1:1'),
      expect.stringContaining('背景不干净'),
      expect.stringContaining('画面偏糊'),
    ]);
  });

  it('passes a sharp motif on a plain ground, JPEG noise included', async () => {
    const { run, keep } = setUp();
    const image = await keep(await paint(picture(ring), 'jpeg'), 'a.jpg');
    const checked = await run('picture.check', {
      image: [image],
      min_width: 600,
      ratio: '3:4',
      ground: 'plain',
      min_sharpness: 4,
    });
    expect(checked).toMatchObject({ ok: true, reasons: [], facts: { ground: 'plain', groundColor: '#ffffff' } });
  });

  it('cuts a motif out and leaves its white middle in', async () => {
    const { run, keep, bytesOf } = setUp();
    const cut = await run('picture.cut-out', { image: await keep(await paint(picture(ring), 'jpeg'), 'a.jpg') });
    const bytes = await bytesOf(cut['image']);
    const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    const alphaAt = (x: number, y: number): number | undefined => data[(y * info.width + x) * 4 + 3];
    expect([info.width, info.height]).toEqual([600, 800]);
    expect(alphaAt(5, 5)).toBe(0);
    expect(alphaAt(300, 250)).toBe(255);
    expect(alphaAt(300, 400)).toBe(255);
    expect(cut['kept_ratio']).toBeCloseTo((Math.PI * 200 * 200) / (600 * 800), 2);
    const after = await run('picture.check', { image: await keep(bytes), ground: 'transparent' });
    expect(after['ok']).toBe(true);
  });

  it('refuses to cut out of an empty picture', async () => {
    const { run, keep } = setUp();
    await expect(run('picture.cut-out', { image: await keep(await paint(picture(''))) })).rejects.toThrow(
      /output-invalid/,
    );
  });

  it('lays pictures of different shapes on one sheet', async () => {
    const { run, keep, bytesOf } = setUp();
    const images = [
      await keep(await paint(picture('', '#ff0000'))),
      await keep(await paint(picture('', '#00ff00', 900, 300))),
      await keep(await paint(picture('', '#0000ff'))),
    ];
    const sheet = await run('picture.contact-sheet', { images, columns: 2, cell_width: 120 });
    const { data, info } = await sharp(await bytesOf(sheet['image']))
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number): number[] => [
      ...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3),
    ];
    expect([info.width, info.height]).toEqual([12 + 2 * 132, 12 + 2 * (160 + 24 + 12)]);
    expect(at(72, 92)).toEqual([255, 0, 0]);
    expect(at(204, 92)).toEqual([0, 255, 0]);
    expect(at(72, 288)).toEqual([0, 0, 255]);
  });

  it('scales to print size with its resolution', async () => {
    const { run, keep, bytesOf } = setUp();
    const print = await run('picture.print-size', {
      image: await keep(await paint(picture(ring))),
      long_side: 2048,
      dpi: 300,
    });
    const facts = await sharp(await bytesOf(print['image'])).metadata();
    expect(facts).toMatchObject({ width: 1536, height: 2048, density: 300 });
  });

  it('P107 says of bytes that only look like a picture that they are unusable', async () => {
    const { run, keep } = setUp();
    const torn = (await paint(picture(ring))).slice(0, 200);
    await expect(run('picture.check', { image: await keep(torn), min_width: 10 })).rejects.toThrow(/output-invalid/);
  });

  it('writes the label of generated media into the metadata, and into a corner when it is to be seen', async () => {
    const { pictures } = setUp();
    const plain = await paint(picture(''));
    const hidden = await pictures.label(plain, 'metadata', 'Studio');
    const seen = await pictures.label(plain, 'visible', 'Studio');
    expect((await sharp(hidden).metadata()).xmpAsString).toContain('TC260:AIGC');
    const darkest = async (bytes: Uint8Array): Promise<number | undefined> =>
      (await sharp(bytes).stats()).channels[0]?.min;
    expect(await darkest(hidden)).toBe(255);
    expect(await darkest(seen)).toBeLessThan(200);
  });

  it('names a wrong input by function and member', async () => {
    const { functions } = setUp();
    const made = await functions.get('picture.print-size')!({ image: 'x' }, signal);
    expect(made).toMatchObject({ ok: false, failure: { kind: 'configuration' } });
    expect(made.ok ? '' : isJsonObject(made.failure) && made.failure.message).toContain('picture.print-size');
  });
});
