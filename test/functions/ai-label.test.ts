import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { type Artifact, artifactSchema } from '../../src/contract/index.ts';
import { createFunctions, createSharpPictureWorker } from '../../src/functions/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';

const signal = new AbortController().signal;

async function labelled(
  mode: 'none' | 'metadata' | 'visible',
  bytes: Uint8Array,
  name: string,
  use: 'final' | 'material',
) {
  const media = createMemorySpool();
  const kept = await media.keep(bytes, name);
  if (!kept.ok) throw new Error(kept.failure.message);
  const functions = createFunctions({
    redLines: { rules: [], avoid: [] },
    pictures: createSharpPictureWorker(),
    media,
    aiLabel: mode,
  });
  const made = await functions.get('media.ai-label')!({ items: [{ ...kept.value }, null], use }, signal);
  if (!made.ok) throw new Error(made.failure.message);
  const [item] = (made.value['items'] as unknown[]).map((each): Artifact => artifactSchema.parse(each));
  const read = await media.read(item!, signal);
  return { before: kept.value, item: item!, bytes: read.ok ? read.value : new Uint8Array() };
}

const picture = await sharp({ create: { width: 400, height: 400, channels: 3, background: '#ffffff' } })
  .png()
  .toBuffer();
/** The start of a film: one `ftyp` box and an empty `mdat`. */
const film = Buffer.from('00000018667479706d703432000000006d70343269736f6d000000086d646174', 'hex');
const darkest = async (bytes: Uint8Array): Promise<number | undefined> => (await sharp(bytes).stats()).channels[0]?.min;

describe('media.ai-label', () => {
  it('leaves everything as it is by default', async () => {
    const { before, item } = await labelled('none', picture, 'a.png', 'final');
    expect(item).toEqual(before);
  });

  it('writes into the metadata, and marks only what is published as it is', async () => {
    const hidden = await labelled('metadata', picture, 'a.png', 'final');
    expect((await sharp(hidden.bytes).metadata()).xmpAsString).toContain('TC260:AIGC');
    expect(await darkest(hidden.bytes)).toBe(255);
    expect(await darkest((await labelled('visible', picture, 'a.png', 'final')).bytes)).toBeLessThan(200);
    expect(await darkest((await labelled('visible', picture, 'a.png', 'material')).bytes)).toBe(255);
  });

  it('adds one more box to a film and keeps every byte before it', async () => {
    const { bytes, item } = await labelled('visible', film, 'a.mp4', 'final');
    expect(item.mime).toBe('video/mp4');
    const data = Buffer.from(bytes);
    expect(data.subarray(0, film.length).equals(film)).toBe(true);
    expect(data.readUInt32BE(film.length)).toBe(data.length - film.length);
    expect(data.toString('latin1', film.length + 4, film.length + 8)).toBe('uuid');
    expect(data.toString('utf8')).toContain('TC260:AIGC');
  });
});
