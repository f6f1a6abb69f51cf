import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adler32 } from '../../src/feishu/adler32.ts';
import { cleanFileName } from '../../src/feishu/index.ts';
import { drive, upload } from './support/drive.ts';
import { createBench, sourceOf } from './support/fake-platform.ts';

describe('a file name', () => {
  it('P037 keeps Chinese and emoji as they are, and loses only what could break a header', () => {
    expect(cleanFileName('测试——第1集（2026-03-02）"终版"\n.mp4')).toBe('测试——第1集（2026-03-02）_终版__.mp4');
    expect(cleanFileName('🎬片头.mp4')).toBe('🎬片头.mp4');
    expect(cleanFileName('a\\b.mp4')).toBe('a_b.mp4');
    expect(cleanFileName('')).toBe('file');
  });

  it('P037 arrives in UTF-8, and no name can add a header', async () => {
    const { handler, files } = drive();
    const bench = createBench(handler);
    await upload(bench, sourceOf('🎬"\r\nX-Evil: 1\r\n.mp4', 10));
    expect(files[0]?.name).toBe('🎬___X-Evil: 1__.mp4');
  });

  it('P039 is cut between graphemes to 250 characters, keeps its extension and stays apart from its like', () => {
    const family = '👨‍👩‍👧‍👦';
    const long = `${'字'.repeat(300)}${family}.mp4`;
    const cut = cleanFileName(long);
    expect(cut.length).toBeLessThanOrEqual(250);
    expect(cut).toMatch(/^字+~[0-9a-f]{8}\.mp4$/);
    expect(cleanFileName(`${'字'.repeat(300)}2.mp4`)).not.toBe(cut);
    const atEdge = cleanFileName(`${'字'.repeat(233)}${family.repeat(10)}.mp4`);
    expect(atEdge.length).toBeLessThanOrEqual(250);
    expect(atEdge).toMatch(/^字{233}~[0-9a-f]{8}\.mp4$/);
  });
});

describe('adler32', () => {
  it('gives the published sums', () => {
    expect(adler32(new TextEncoder().encode('Wikipedia'))).toBe(0x11e60398);
    expect(adler32(new Uint8Array())).toBe(1);
    expect(adler32(new Uint8Array(1_000_000).fill(255))).toBe(naive(new Uint8Array(1_000_000).fill(255)));
  });

  it('is the same, byte for byte, wherever the bytes begin and end in memory', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 0, maxLength: 600 }),
        fc.nat(7),
        fc.constantFrom(1, 2, 30, 80),
        (some, offset, times) => {
          const all = new Uint8Array(offset + some.length * times);
          for (let each = 0; each < times; each += 1) all.set(some, offset + each * some.length);
          const bytes = all.subarray(offset);
          return adler32(bytes) === naive(bytes);
        },
      ),
    );
  });

  it('holds for the largest sums, at each length about a stride and a reduction', () => {
    const full = new Uint8Array(40_000).fill(255);
    for (const about of [64, 16_384, 32_768]) {
      for (let length = about - 5; length <= about + 69; length += 1) {
        expect(adler32(full.subarray(3, 3 + length))).toBe(naive(full.subarray(3, 3 + length)));
      }
    }
  });

  function naive(bytes: Uint8Array): number {
    let low = 1;
    let high = 0;
    for (const byte of bytes) {
      low = (low + byte) % 65_521;
      high = (high + low) % 65_521;
    }
    return high * 65_536 + low;
  }
});
