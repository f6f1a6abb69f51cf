import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Artifact } from '../../src/contract/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { probeFilm } from '../../src/media/probe-film.ts';
import { createSharpPainter } from '../../src/sandbox/index.ts';
import { fuzzRuns } from '../providers/fuzz-runs.ts';

const u32 = (value: number): Buffer =>
  Buffer.from([value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);
const u64 = (value: number): Buffer => Buffer.concat([u32(0), u32(value)]);
const box = (type: string, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body]);
};
const longBox = (type: string, body: Buffer): Buffer =>
  Buffer.concat([u32(1), Buffer.from(type, 'latin1'), u64(body.length + 16), body]);

const brand = box('ftyp', Buffer.from('isom\0\0\0\0', 'latin1'));
const head = (timescale: number, units: number): Buffer =>
  box('mvhd', u32(0), Buffer.alloc(8), u32(timescale), u32(units), Buffer.alloc(80));
const wideHead = (timescale: number, units: number): Buffer =>
  box('mvhd', u32(0x01000000), Buffer.alloc(16), u32(timescale), u64(units), Buffer.alloc(80));
const track = (handler: string): Buffer =>
  box(
    'trak',
    box('tkhd', Buffer.alloc(84)),
    box('mdia', box('hdlr', Buffer.alloc(8), Buffer.from(handler), Buffer.alloc(12))),
  );
const media = box('mdat', Buffer.alloc(10_000, 7));

/** What is read, and how many bytes of the file for it. */
async function look(bytes: Uint8Array): Promise<{ readonly film: Artifact['film']; readonly readBytes: number }> {
  const spool = createMemorySpool();
  const kept = await spool.keep(bytes, 'film.mp4');
  if (!kept.ok) throw new Error(kept.failure.message);
  let readBytes = 0;
  const watched: Pick<typeof spool, 'open'> = {
    open: (artifact, offset, length) => {
      readBytes += length;
      return spool.open(artifact, offset, length);
    },
  };
  return { film: await probeFilm(watched, kept.value), readBytes };
}

describe('what a film says of itself', () => {
  it.each([
    [
      'with picture and sound',
      [brand, box('moov', head(600, 4_920), track('vide'), track('soun')), media],
      8_200,
      true,
    ],
    [
      'silent, its index behind the pictures',
      [brand, media, box('moov', head(1_000, 3_000), track('vide'))],
      3_000,
      false,
    ],
    [
      'with 64-bit times and a 64-bit box',
      [brand, longBox('mdat', media), box('moov', wideHead(90_000, 450_000), track('soun'))],
      5_000,
      true,
    ],
    ['in fragments, without a length', [brand, box('moov', head(1_000, 0), track('vide')), media], undefined, false],
  ])('is read: %s', async (_what, parts, durationMs, hasSound) => {
    const { film, readBytes } = await look(Buffer.concat(parts));
    expect(film).toEqual({ hasSound, ...(durationMs === undefined ? {} : { durationMs }) });
    expect(readBytes).toBeLessThan(1_000);
  });

  it('the films of the sandbox are silent and as long as was asked', async () => {
    const painter = createSharpPainter();
    const bytes = await painter.film({ seed: 1, widthPx: 64, heightPx: 96, seconds: 4, inputs: [] });
    expect((await look(bytes)).film).toMatchObject({ hasSound: false });
    expect(((await look(bytes)).film?.durationMs ?? 0) / 1_000).toBeCloseTo(4, 0);
  });

  it.each([
    ['no film', Buffer.from('ftyp of no film at all')],
    ['no index', Buffer.concat([brand, media])],
    ['a box longer than the file', Buffer.concat([brand, u32(5_000), Buffer.from('moov')])],
    ['a box of no length', Buffer.concat([brand, u32(2), Buffer.from('moov'), media])],
  ])('nothing is made up: %s', async (_what, bytes) => {
    expect((await look(bytes)).film).toBeUndefined();
  });

  it('whatever the bytes, it ends, reads little and claims nothing impossible', async () => {
    const piece = fc.oneof(
      fc.constantFrom(brand, head(1_000, 5_000), head(0, 1), track('soun'), box('moov', head(1, 9), track('vide'))),
      fc.uint8Array({ maxLength: 40 }),
      fc.integer({ min: 0, max: 64 }).map((length) => Buffer.concat([u32(length), Buffer.from('moov')])),
    );
    const film = fc.array(piece, { minLength: 1, maxLength: 300 }).map((pieces) => Buffer.concat([brand, ...pieces]));
    await fc.assert(
      fc.asyncProperty(film, async (bytes) => {
        const seen = await look(bytes);
        expect(seen.readBytes).toBeLessThan(200 * 20);
        const durationMs = seen.film?.durationMs ?? 1;
        expect(durationMs > 0 && durationMs <= 86_400_000).toBe(true);
      }),
      fuzzRuns(60),
    );
  });
});
