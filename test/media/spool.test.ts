import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createIdSource, createSeededRandom, createVirtualClock } from '../../src/kernel/index.ts';
import { createDigest } from '../../src/media/digest.ts';
import type { FileHasher } from '../../src/media/file-hash.ts';
import { writePieces } from '../../src/media/write-pieces.ts';
import { createDiskSpool, createMemorySpool, type Spool } from '../../src/media/index.ts';

const made: string[] = [];
afterEach(async () => {
  for (const directory of made.splice(0)) {
    await chmod(directory, 0o700).catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
  }
});

const ids = createIdSource(createVirtualClock(), createSeededRandom(3));
async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'gridloom-spool-'));
  made.push(directory);
  return directory;
}

async function filesOf(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

const png = Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), Buffer.alloc(5_000, 9)]);
const { signal } = new AbortController();

async function* pieces(bytes: Uint8Array, size = 7): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}
async function* breaking(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes);
  throw new Error('connection lost');
}

const kinds: readonly (readonly [string, () => Promise<Spool>])[] = [
  ['memory', () => Promise.resolve(createMemorySpool())],
  ['disk', async () => createDiskSpool({ directory: await newDirectory(), ids })],
];

describe.each(kinds)('the spool in %s', (_kind, create) => {
  const options = { nameHint: '上身图', maxBytes: 10_000, expect: 'image' } as const;

  it('keeps bytes by hash and gives them back, whole and in parts', async () => {
    const spool = await create();
    const stored = await spool.store(pieces(png), options, signal);
    expect(stored).toEqual({
      ok: true,
      value: {
        kind: 'artifact',
        hash: createHash('sha256').update(png).digest('hex'),
        sizeBytes: png.byteLength,
        mime: 'image/png',
        name: '上身图.png',
      },
    });
    if (!stored.ok) return;
    const read = await spool.read(stored.value, signal);
    expect(read.ok && Buffer.from(read.value).equals(png)).toBe(true);
    const part: Uint8Array[] = [];
    for await (const chunk of spool.open(stored.value, 100, 300)) part.push(chunk);
    expect(Buffer.concat(part).equals(png.subarray(100, 400))).toBe(true);
    expect([await spool.has(stored.value.hash), await spool.sizeBytes()]).toEqual([true, png.byteLength]);
    await spool.remove(stored.value.hash);
    expect([await spool.has(stored.value.hash), await spool.sizeBytes()]).toEqual([false, 0]);
    expect(await spool.read(stored.value, signal)).toMatchObject({ ok: false, failure: { kind: 'storage' } });
  });

  it('takes the same bytes twice without growing', async () => {
    const spool = await create();
    await spool.store(pieces(png), options, signal);
    await spool.store(pieces(png, 999), options, signal);
    expect(await spool.sizeBytes()).toBe(png.byteLength);
  });

  it.each([
    ['nothing', Buffer.alloc(0), {}, 'content.empty'],
    ['a page for a picture', Buffer.from(`<html>${'x'.repeat(900)}</html>`), {}, 'content.type'],
    ['a text named .png', Buffer.from('hello'), { nameHint: 'a.png' }, 'content.type'],
    ['a film for a picture', Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1'), {}, 'content.type'],
    ['too much', Buffer.concat([png, png]), { maxBytes: 9_000 }, 'content.too-large'],
    ['less than was announced', png, { expectedBytes: 6_000 }, 'content.short'],
  ])('P102 P109 refuses %s and keeps nothing of it', async (_what, bytes, more, code) => {
    const spool = await create();
    expect(await spool.store(pieces(bytes), { ...options, ...more }, signal)).toMatchObject({
      ok: false,
      failure: { kind: 'transfer', code },
    });
    expect(await spool.sizeBytes()).toBe(0);
  });

  it('P104 keeps nothing of a source that breaks off, and passes its error on', async () => {
    const spool = await create();
    await expect(spool.store(breaking(png), options, signal)).rejects.toThrow('connection lost');
    expect(await spool.sizeBytes()).toBe(0);
  });

  it('stops when told to', async () => {
    const spool = await create();
    const stop = new AbortController();
    stop.abort(new Error('stopping'));
    await expect(spool.store(pieces(png), options, stop.signal)).rejects.toThrow('stopping');
  });

  it('keeps inline bytes with a name from their type', async () => {
    const spool = await create();
    expect(await spool.keep(Buffer.from('{"a":1}'), '插件配置.txt')).toMatchObject({
      ok: true,
      value: { mime: 'application/json', name: '插件配置.json' },
    });
    expect(await spool.keep(Buffer.alloc(0), 'x')).toMatchObject({ ok: false });
  });
});

describe('the spool on disk', () => {
  it('P109 clears half-written files of a dead process, and leaves whole ones', async () => {
    const directory = await newDirectory();
    const before = createDiskSpool({ directory, ids });
    const stored = await before.store(pieces(png), { nameHint: 'x', maxBytes: 10_000 }, signal);
    await writeFile(join(directory, 'partial', 'half'), '');
    const after = createDiskSpool({ directory, ids });
    expect(await filesOf(directory)).toEqual([stored.ok ? stored.value.hash : '']);
    expect(await after.sizeBytes()).toBe(png.byteLength);
  });

  it('P174 lets only its owner read, and never uses a name as a path', async () => {
    const directory = await newDirectory();
    const spool = createDiskSpool({ directory, ids });
    const stored = await spool.store(pieces(png), { nameHint: '../../etc/passwd', maxBytes: 10_000 }, signal);
    if (!stored.ok) throw new Error('not stored');
    expect(stored.value.name).toBe('etcpasswd.png');
    const path = join(directory, stored.value.hash.slice(0, 2), stored.value.hash);
    expect((await stat(path)).mode & 0o077).toBe(0);
    await expect(spool.has('../../../etc/passwd')).rejects.toThrow('not a hash');
  });

  it.skipIf(process.getuid?.() === 0)('P109 says "storage" when the disk refuses, not "transfer"', async () => {
    const directory = await newDirectory();
    const spool = createDiskSpool({ directory, ids });
    await chmod(join(directory, 'partial'), 0o500);
    expect(await spool.store(pieces(png), { nameHint: 'x', maxBytes: 10_000 }, signal)).toMatchObject({
      ok: false,
      failure: { kind: 'storage' },
    });
    await chmod(join(directory, 'partial'), 0o700);
  });

  it('P109 says "storage" when the place of a file is taken, and leaves nothing half', async () => {
    const directory = await newDirectory();
    const spool = createDiskSpool({ directory, ids });
    const hash = createHash('sha256').update(png).digest('hex');
    await writeFile(join(directory, hash.slice(0, 2)), 'a file where a folder must be');
    expect(await spool.store(pieces(png), { nameHint: 'x', maxBytes: 10_000 }, signal)).toMatchObject({
      ok: false,
      failure: { kind: 'storage' },
    });
    expect(await readdir(join(directory, 'partial'))).toEqual([]);
  });

  describe('a file too large to be hashed on the event loop', () => {
    const film = Buffer.alloc(17 * 1024 * 1024, 5);
    film.write('\0\0\0\x18ftypisom\0\0\0\0isommp42', 0, 'latin1');
    film.fill(77, 9_000_000, 9_500_000);
    const hash = createHash('sha256').update(film).digest('hex');
    const options = { nameHint: 'film', maxBytes: 1024 ** 3, expect: 'video' } as const;

    it.each([
      ['is hashed in a thread while it is being written', { expectedBytes: film.byteLength }],
      ['is so too when its length shows only on the way', {}],
    ])('%s', async (_how, more) => {
      const directory = await newDirectory();
      const spool = createDiskSpool({ directory, ids });
      const stored = await spool.store(pieces(film, 70_001), { ...options, ...more }, signal);
      expect(stored).toMatchObject({ ok: true, value: { hash, sizeBytes: film.byteLength, mime: 'video/mp4' } });
      expect(await filesOf(directory)).toEqual([hash]);
    });

    it('comes in beside others, each with its own hash', async () => {
      const spool = createDiskSpool({ directory: await newDirectory(), ids });
      const other = Buffer.from(film).fill(1, 100);
      const [first, second, small] = await Promise.all([
        spool.store(pieces(film, 70_001), options, signal),
        spool.store(pieces(other, 30_007), options, signal),
        spool.store(pieces(png, 999), { nameHint: 'x', maxBytes: 10_000 }, signal),
      ]);
      expect([first, second, small].map((one) => one.ok && one.value.hash)).toEqual(
        [film, other, png].map((bytes) => createHash('sha256').update(bytes).digest('hex')),
      );
    });

    it('leaves nothing when its source breaks off, and the next one is taken', async () => {
      const directory = await newDirectory();
      const spool = createDiskSpool({ directory, ids });
      await expect(spool.store(breaking(film), options, signal)).rejects.toThrow('connection lost');
      expect(await filesOf(directory)).toEqual([]);
      expect(await spool.store(pieces(film, 70_001), options, signal)).toMatchObject({ ok: true, value: { hash } });
    });

    it('is hashed all the same when the thread dies', async () => {
      const path = join(await newDirectory(), 'film');
      await writeFile(path, film);
      const dead: FileHasher = () => ({
        written: () => undefined,
        finish: () => Promise.reject(new Error('the thread that hashes files has ended')),
        drop: () => undefined,
      });
      const digest = createDigest(dead, path, film.byteLength);
      digest.take(film);
      expect(await digest.finish()).toBe(hash);
    });

    it('is read into memory that is given, without buffers of its own', async () => {
      const spool = createDiskSpool({ directory: await newDirectory(), ids });
      const stored = await spool.store(pieces(film, 70_001), options, signal);
      if (!stored.ok) throw new Error('not stored');
      const memory = new Uint8Array(4_000_000);
      let readBytes = 0;
      for await (const piece of spool.open(stored.value, 8_000_000, 3_000_000, memory)) {
        expect([piece.buffer, piece.byteOffset]).toEqual([memory.buffer, readBytes]);
        readBytes += piece.byteLength;
      }
      expect(readBytes).toBe(3_000_000);
      expect(film.subarray(8_000_000, 11_000_000).equals(memory.subarray(0, 3_000_000))).toBe(true);
    });
  });

  it('tells of a disk that fails in the background, and keeps nothing', async () => {
    const written: number[] = [];
    const file = {
      write: (bytes: Uint8Array) => Promise.resolve({ bytesWritten: bytes.byteLength }),
      datasync: () => Promise.reject(new Error('EIO')),
    };
    const chunk = Buffer.alloc(1024 * 1024);
    const source = async function* (): AsyncIterable<Uint8Array> {
      for (let count = 0; count < 70; count += 1) yield await Promise.resolve(chunk);
    };
    const filling = {
      file,
      sizeBytes: 1024 ** 3,
      take: () => undefined,
      onWritten: (bytes: number) => written.push(bytes),
    };
    await expect(writePieces(filling, source())).rejects.toThrow('the disk refused');
    expect(written.length).toBeGreaterThan(64);
  });

  it('does not hand out a file whose length is not what it was', async () => {
    const directory = await newDirectory();
    const spool = createDiskSpool({ directory, ids });
    const stored = await spool.store(pieces(png), { nameHint: 'x', maxBytes: 10_000 }, signal);
    if (!stored.ok) throw new Error('not stored');
    await mkdir(join(directory, stored.value.hash.slice(0, 2)), { recursive: true });
    await writeFile(join(directory, stored.value.hash.slice(0, 2), stored.value.hash), 'short');
    expect(await spool.read(stored.value, signal)).toMatchObject({ ok: false, failure: { kind: 'storage' } });
  });
});
