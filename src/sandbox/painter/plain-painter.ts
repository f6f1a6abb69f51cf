import { deflateSync } from 'node:zlib';
import { concatBytes } from '../bytes.ts';
import { looksLikePicture, type Painter } from './painter.ts';
import { seedOf } from './seed.ts';

const signature = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const crcTable = Uint32Array.from({ length: 256 }, (_unused, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = ((crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)) >>> 0;
  return (crc ^ 0xffffffff) >>> 0;
}

function u32(value: number): Uint8Array {
  return Uint8Array.from([value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = concatBytes([new TextEncoder().encode(type), data]);
  return concatBytes([u32(data.length), body, u32(crc32(body))]);
}

/** A valid PNG of one colour, 16 × 16. */
function tinyPng(seed: number): Uint8Array<ArrayBuffer> {
  const side = 16;
  const pixel = [(seed >>> 16) & 0xff, (seed >>> 8) & 0xff, seed & 0xff];
  const row = [0, ...Array.from({ length: side }, () => pixel).flat()];
  const raw = Uint8Array.from(Array.from({ length: side }, () => row).flat());
  const header = concatBytes([u32(side), u32(side), Uint8Array.from([8, 2, 0, 0, 0])]);
  return concatBytes([
    signature,
    chunk('IHDR', header),
    chunk('tEXt', new TextEncoder().encode(`seed\0${seed}`)),
    chunk('IDAT', deflateSync(raw, { level: 1 })),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

/** The smallest thing that begins like an MP4; no player would show it. */
function tinyMp4(seed: number): Uint8Array<ArrayBuffer> {
  const text = (word: string): Uint8Array => new TextEncoder().encode(word);
  const ftyp = concatBytes([u32(24), text('ftyp'), text('isom'), u32(512), text('isom'), text('mp41')]);
  const note = text(`seed ${seed}`.padEnd(24, ' '));
  return concatBytes([ftyp, u32(8 + note.length), text('free'), note, u32(8), text('mdat')]);
}

/** For simulations: real file signatures, no real pictures, no waiting, always the same bytes for the same order. */
export function createPlainPainter(): Painter {
  return {
    paint: (order) => Promise.resolve(tinyPng(order.seed)),
    film: (order) => Promise.resolve(tinyMp4(order.seed)),
    draw: (svg) => Promise.resolve(tinyPng(seedOf(svg))),
    isPicture: looksLikePicture,
  };
}
