import { describe, expect, it } from 'vitest';
import type { UploadSessions } from '../../src/feishu/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { api, drive, mib, upload } from './support/drive.ts';
import { createBench, done, formOf, refusal, sha, sourceOf } from './support/fake-platform.ts';

describe('an upload in parts that was broken off', () => {
  function memorySessions(): UploadSessions & { stored: Map<string, JsonObject> } {
    const stored = new Map<string, JsonObject>();
    return {
      stored,
      load: (key) => Promise.resolve(stored.get(key)),
      save: (key, value) => Promise.resolve(void stored.set(key, value)),
      remove: (key) => Promise.resolve(void stored.delete(key)),
    };
  }

  async function broken(sessions: UploadSessions) {
    const space = drive((request) =>
      request.path.endsWith('upload_part') && space.parts.size === 4 ? refusal(1061101, 400) : undefined,
    );
    const bench = createBench(space.handler, { uploadSessions: sessions });
    await upload(bench, sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' }));
    expect(space.parts.size).toBe(4);
    return space;
  }

  it('P034 goes on after five minutes where it ended, and leaves no session behind', async () => {
    const sessions = memorySessions();
    const before = await broken(sessions);
    const bench = createBench(
      api(async (request) => {
        if (request.path.endsWith('upload_finish')) return done({ file_token: 'boxResumed' });
        const { fields, file } = await formOf(request);
        before.parts.set(Number(fields['seq']), new Uint8Array(await file.arrayBuffer()));
        return done({});
      }),
      { uploadSessions: sessions },
    );
    await bench.clock.advance(300_000);
    const source = sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' });
    expect(await upload(bench, source)).toEqual({ ok: true, value: 'boxResumed' });
    expect(bench.to('upload_prepare')).toHaveLength(0);
    expect(bench.to('upload_part')).toHaveLength(9);
    expect(sha(before.whole())).toBe(sha(source.all));
    expect(sessions.stored.size).toBe(0);
  });

  it('P034 notes a part while the next is under way, and lets go of the session only after that', async () => {
    const sessions = memorySessions();
    const log: string[] = [];
    const slow: UploadSessions = {
      ...sessions,
      save: async (key, value) => {
        const { nextSeq } = value;
        if (typeof nextSeq !== 'number') throw new Error('no part is named');
        // As slow as can be: until the next part has come in.
        const isNextIn = (): boolean => nextSeq === 0 || nextSeq === 6 || log.includes(`sent ${nextSeq}`);
        while (!isNextIn()) await new Promise<void>((resolve) => setImmediate(resolve));
        log.push(`noted ${nextSeq}`);
        await sessions.save(key, value);
      },
      remove: async (key) => {
        log.push('forgotten');
        await sessions.remove(key);
      },
    };
    const space = drive((request) => {
      if (request.path.endsWith('upload_part')) log.push(`sent ${space.parts.size}`);
      return undefined;
    });
    const bench = createBench(space.handler, { uploadSessions: slow });
    expect((await upload(bench, sourceOf('v.mp4', 24 * mib, { resumeKey: 'sha-1' }))).ok).toBe(true);
    const sentBefore = (note: string): number =>
      log.slice(0, log.indexOf(note)).filter((at) => at.startsWith('sent')).length;
    expect([1, 2, 3, 4, 5].map((part) => sentBefore(`noted ${part}`))).toEqual([2, 3, 4, 5, 6]);
    expect(log.slice(-2)).toEqual(['noted 6', 'forgotten']);
    expect(sessions.stored.size).toBe(0);
  });

  it('P034 begins anew after 25 hours', async () => {
    const sessions = memorySessions();
    await broken(sessions);
    const { handler, parts } = drive();
    const bench = createBench(handler, { uploadSessions: sessions });
    await bench.clock.advance(25 * 3_600_000);
    expect((await upload(bench, sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' }))).ok).toBe(true);
    expect([bench.to('upload_prepare').length, parts.size]).toEqual([1, 13]);
  });

  it('P034 begins anew, once, when the platform has forgotten the session', async () => {
    const sessions = memorySessions();
    await broken(sessions);
    const { handler } = drive((_request, count) => (count === 1 ? refusal(1061021, 400) : undefined));
    const bench = createBench(handler, { uploadSessions: sessions });
    expect((await upload(bench, sourceOf('v.mp4', 52 * mib, { resumeKey: 'sha-1' }))).ok).toBe(true);
    expect(bench.to('upload_prepare')).toHaveLength(1);
    const gone = createBench(
      drive((request) => (request.path.endsWith('upload_part') ? refusal(1061021, 400) : undefined)).handler,
    );
    expect((await upload(gone, sourceOf('v.mp4', 52 * mib))).ok).toBe(false);
    expect(gone.to('upload_prepare')).toHaveLength(2);
  });
});
