import { concatBytes, indexOfBytes } from '../bytes.ts';

/**
 * An MP4 out of AVIF pictures, written by hand: an AVIF file holds one AV1 key frame, and a film whose every frame is a key
 * frame is a legal AV1 film (ISO/IEC 14496-12 boxes, AV1-ISOBMFF sample entry `av01` with `av1C`). Chromium, Firefox and the
 * usual players show it; nothing proprietary is needed. docs/decisions has the story.
 */
export interface Film {
  readonly frames: readonly Uint8Array[];
  readonly widthPx: number;
  readonly heightPx: number;
  /** How long each frame stays. */
  readonly frameMs: number;
}

const timescale = 1_000;

const text = (word: string): Uint8Array => Uint8Array.from(word, (letter) => letter.charCodeAt(0));
const u16 = (value: number): Uint8Array => Uint8Array.from([(value >>> 8) & 0xff, value & 0xff]);
const u32 = (value: number): Uint8Array => concatBytes([u16(value >>> 16), u16(value & 0xffff)]);
const zeros = (count: number): Uint8Array => new Uint8Array(count);

function box(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = concatBytes(parts);
  return concatBytes([u32(body.length + 8), text(type), body]);
}

/** A box with version and flags. */
function fullBox(type: string, flags: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return box(type, u32(flags), ...parts);
}

const identity = concatBytes([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));

/** The body of the first box of a type, wherever it lies. */
function bodyOf(file: Uint8Array, type: string): Uint8Array {
  const at = indexOfBytes(file, text(type), 0);
  if (at < 4) throw new Error(`no ${type} box in an AVIF file`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  return file.subarray(at + 4, at - 4 + view.getUint32(at - 4));
}

/** The key frame: the picture's OBUs without the temporal delimiter, which MP4 leaves out. */
function sampleOf(avif: Uint8Array): Uint8Array {
  const data = bodyOf(avif, 'mdat');
  return data[0] === 0x12 && data[1] === 0 ? data.subarray(2) : data;
}

/** Writes the film. Every picture must be an AVIF without alpha, of the same size and settings. */
export function writeMp4(film: Film): Uint8Array<ArrayBuffer> {
  const first = film.frames[0];
  if (first === undefined) throw new Error('a film needs at least one frame');
  const samples = film.frames.map(sampleOf);
  const ftyp = box('ftyp', text('isom'), u32(512), text('isomiso2av01mp41'));
  const layout = { film, samples, config: bodyOf(first, 'av1C') };
  const lengthBytes = movie(layout, 0).length;
  const moov = movie(layout, ftyp.length + lengthBytes + 8);
  return concatBytes([ftyp, moov, box('mdat', ...samples)]);
}

interface Layout {
  readonly film: Film;
  readonly samples: readonly Uint8Array[];
  readonly config: Uint8Array;
}

function movie(layout: Layout, offset: number): Uint8Array {
  const length = layout.samples.length * layout.film.frameMs;
  const head = fullBox(
    'mvhd',
    0,
    zeros(8),
    u32(timescale),
    u32(length),
    u32(0x10000),
    u16(0x100),
    zeros(10),
    identity,
    zeros(24),
    u32(2),
  );
  return box('moov', head, track(layout, offset, length));
}

function track(layout: Layout, offset: number, length: number): Uint8Array {
  const { widthPx, heightPx } = layout.film;
  const head = fullBox(
    'tkhd',
    3,
    zeros(8),
    u32(1),
    zeros(4),
    u32(length),
    zeros(16),
    identity,
    u32(widthPx * 0x10000),
    u32(heightPx * 0x10000),
  );
  const mediaHead = fullBox('mdhd', 0, zeros(8), u32(timescale), u32(length), u16(0x55c4), zeros(2));
  const handler = fullBox('hdlr', 0, zeros(4), text('vide'), zeros(12), text('film\0'));
  const reference = box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1)));
  const info = box('minf', fullBox('vmhd', 1, zeros(8)), reference, sampleTable(layout, offset));
  return box('trak', head, box('mdia', mediaHead, handler, info));
}

function sampleTable({ film, samples, config }: Layout, offset: number): Uint8Array {
  const count = samples.length;
  const entry = box(
    'av01',
    zeros(6),
    u16(1),
    zeros(16),
    u16(film.widthPx),
    u16(film.heightPx),
    u32(0x480000),
    u32(0x480000),
    zeros(4),
    u16(1),
    zeros(32),
    u16(24),
    u16(0xffff),
    box('av1C', config),
  );
  return box(
    'stbl',
    fullBox('stsd', 0, u32(1), entry),
    fullBox('stts', 0, u32(1), u32(count), u32(film.frameMs)),
    fullBox('stsc', 0, u32(1), u32(1), u32(count), u32(1)),
    fullBox('stsz', 0, u32(0), u32(count), ...samples.map((sample) => u32(sample.length))),
    fullBox('stco', 0, u32(1), u32(offset)),
  );
}
