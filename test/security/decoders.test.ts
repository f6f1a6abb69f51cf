import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createSharpPictureWorker } from '../../src/functions/index.ts';
import { createSharpFitter } from '../../src/media/index.ts';
import { projectDirectory } from '../support/outside.ts';

/** A PNG that claims a size and holds next to nothing: what a decoder allocates is decided by its header. */
function bomb(widthPx: number, heightPx: number): Uint8Array {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(widthPx, 0);
  header.writeUInt32BE(heightPx, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc(64 * 1024));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const huge = bomb(15_000, 15_000);
const pictures = createSharpPictureWorker();
const works: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['measure', async () => await pictures.measure(huge)],
  ['contactSheet', async () => await pictures.contactSheet([huge], { columns: 1, cellWidthPx: 64, gapPx: 4 })],
  ['cutOut', async () => await pictures.cutOut(huge, 30)],
  ['printSize', async () => await pictures.printSize(huge, 512, 300)],
  ['label', async () => await pictures.label(huge, 'visible', 'x')],
];

describe('decoders', () => {
  it.each(works)('%s refuses a small file that unfolds to 225 million pixels', async (_name, work) => {
    expect(huge.byteLength).toBeLessThan(1_000);
    await expect(work()).rejects.toThrow(/pixel limit/);
  });

  it('a picture on its way to a vendor is refused in words', async () => {
    const limits = { maxSidePx: 1_024, maxBytes: 1_000_000, mimes: ['image/jpeg'] };
    expect(await createSharpFitter()(huge, 'image/png', limits)).toMatchObject({
      ok: false,
      failure: { kind: 'invalid-input', code: 'picture.unreadable' },
    });
  });

  it('twin: a header within the limit is not refused for its size', async () => {
    expect(await pictures.measure(bomb(64, 64))).toMatchObject({ widthPx: 64, heightPx: 64 });
  });

  it('no decoder is opened without the limit', () => {
    const folders = ['src/functions', 'src/media', 'src/providers', 'src/feishu', 'src/bitable', 'src/engine'];
    const lines = folders.flatMap((folder) =>
      readdirSync(join(projectDirectory, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => {
          const text = readFileSync(join(projectDirectory, folder, name), 'utf8');
          return [...text.matchAll(/\bsharp\([^\n]*/g)].map((match) => `${name}: ${match[0]}`);
        }),
    );
    const open = lines.filter((line) => !/limitInputPixels|\{ raw: |\{ create: |sharp\(edges\)/.test(line));
    expect(lines.length).toBeGreaterThan(3);
    expect(open).toEqual([]);
  });
});
