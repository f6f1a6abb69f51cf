import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createPlainPainter, createSharpPainter, type Painter, sampleNames } from '../../src/sandbox/index.ts';
import { drawSample } from '../../src/sandbox/samples/draw.ts';

const painters: readonly (readonly [string, Painter])[] = [
  ['sharp', createSharpPainter()],
  ['plain', createPlainPainter()],
];
const size = { widthPx: 120, heightPx: 160 };

describe.each(painters)('the %s painter', (name, painter) => {
  it('gives the same bytes for the same order and others for another seed', async () => {
    const order = { scene: 'scene', inputs: [], ...size, format: 'png' } as const;
    const first = await painter.paint({ ...order, seed: 1 });
    expect(Buffer.from(first).equals(await painter.paint({ ...order, seed: 1 }))).toBe(true);
    expect(Buffer.from(first).equals(await painter.paint({ ...order, seed: 2 }))).toBe(false);
    expect(painter.isPicture(first)).toBe(true);
    expect(painter.isPicture(new TextEncoder().encode('<html>'))).toBe(false);
  });

  it('paints every scene from one input, from none, and from one that is no picture', async () => {
    const dress = await drawSample(painter, 'dress');
    const inputs = [[dress], [], [Uint8Array.from([1, 2, 3])]];
    for (const scene of ['wear', 'shot', 'grid', 'element', 'retouch', 'scene'] as const) {
      for (const each of inputs) {
        const bytes = await painter.paint({ scene, inputs: each, ...size, seed: 5, format: 'png' });
        if (name === 'sharp') expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 120 });
        expect(painter.isPicture(bytes)).toBe(true);
      }
    }
  });

  it('films something that begins like an MP4', async () => {
    const bytes = await painter.film({ inputs: [], ...size, seconds: 1, seed: 1 });
    expect(new TextDecoder('latin1').decode(bytes.subarray(4, 8))).toBe('ftyp');
  });
});

describe('sample pictures', () => {
  it('are drawn by the project itself, each as a PNG', async () => {
    for (const sample of sampleNames) {
      const bytes = await drawSample(createSharpPainter(), sample);
      expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 720 });
    }
    await expect(drawSample(createSharpPainter(), 'nothing')).rejects.toThrow('no sample picture');
  });
});
