import type { Artifact } from '../contract/index.ts';
import type { Spool } from './spool.ts';

/** Boxes that are looked at in all; a film of ours has some twenty. */
const maxBoxes = 200;
/** The longest film that is believed, milliseconds: a day. */
const maxDurationMs = 86_400_000;

interface Box {
  readonly type: string;
  readonly bodyAt: number;
  readonly endAt: number;
}

/**
 * What an MP4 or QuickTime file says of itself: how long it is (`moov/mvhd`), and whether it has a sound track
 * (`moov/trak/mdia/hdlr`). Reads a few bytes of each box, wherever `moov` lies; undefined for what it cannot make sense of
 * (P087).
 */
export async function probeFilm(spool: Pick<Spool, 'open'>, film: Artifact): Promise<Artifact['film']> {
  const walk = { left: maxBoxes };
  const read = async (at: number, length: number): Promise<DataView> => await readAt(spool, film, at, length);
  const inside = async (endAt: number, type: string, bodyAt = 0): Promise<readonly Box[]> =>
    await boxesOf(read, walk, { type, bodyAt, endAt });
  const [moov] = await inside(film.sizeBytes, 'moov');
  if (moov === undefined) return undefined;
  const [head] = await inside(moov.endAt, 'mvhd', moov.bodyAt);
  let hasSound = false;
  for (const track of await inside(moov.endAt, 'trak', moov.bodyAt)) {
    const [media] = await inside(track.endAt, 'mdia', track.bodyAt);
    const [handler] = media === undefined ? [] : await inside(media.endAt, 'hdlr', media.bodyAt);
    if (handler !== undefined && nameAt(await read(handler.bodyAt, 12), 8) === 'soun') hasSound = true;
  }
  const durationMs = head === undefined ? undefined : readDuration(await read(head.bodyAt, 32));
  return { hasSound, ...(durationMs === undefined ? {} : { durationMs }) };
}

/** The boxes of one type between two places, in order. */
async function boxesOf(
  read: (at: number, length: number) => Promise<DataView>,
  walk: { left: number },
  wanted: Box,
): Promise<readonly Box[]> {
  const found: Box[] = [];
  let at = wanted.bodyAt;
  while (at + 8 <= wanted.endAt && walk.left > 0) {
    walk.left -= 1;
    const view = await read(at, 16);
    if (view.byteLength < 8) break;
    const short = view.getUint32(0);
    const isLong = short === 1 && view.byteLength === 16;
    const length = short === 0 ? wanted.endAt - at : isLong ? Number(view.getBigUint64(8)) : short;
    const headBytes = isLong ? 16 : 8;
    if (length < headBytes || at + length > wanted.endAt) break;
    const type = nameAt(view, 4);
    if (type === wanted.type) found.push({ type, bodyAt: at + headBytes, endAt: at + length });
    at += length;
  }
  return found;
}

/** `mvhd`: version 0 has 32-bit times, version 1 64-bit ones. Zero and all ones mean "unknown" (films in fragments). */
function readDuration(view: DataView): number | undefined {
  const isWide = view.byteLength > 0 && view.getUint8(0) === 1;
  if (view.byteLength < (isWide ? 32 : 20)) return undefined;
  const timescale = view.getUint32(isWide ? 20 : 12);
  const units = isWide ? Number(view.getBigUint64(24)) : view.getUint32(16);
  const durationMs = Math.round((units * 1_000) / timescale);
  const isKnown = isWide || units !== 0xffff_ffff;
  return isKnown && durationMs > 0 && durationMs <= maxDurationMs ? durationMs : undefined;
}

function nameAt(view: DataView, at: number): string {
  if (view.byteLength < at + 4) return '';
  return String.fromCharCode(...Array.from({ length: 4 }, (_unused, index) => view.getUint8(at + index)));
}

async function readAt(spool: Pick<Spool, 'open'>, film: Artifact, at: number, length: number): Promise<DataView> {
  const pieces: Uint8Array[] = [];
  const wanted = Math.max(0, Math.min(length, film.sizeBytes - at));
  if (wanted > 0) for await (const piece of spool.open(film, at, wanted)) pieces.push(piece);
  const bytes = new Uint8Array(Buffer.concat(pieces));
  return new DataView(bytes.buffer, 0, Math.min(bytes.byteLength, wanted));
}
