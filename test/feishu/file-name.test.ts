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
