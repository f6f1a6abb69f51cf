import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Artifact, FieldMapping } from '../../src/contract/index.ts';
import type { JsonObject } from '../../src/kernel/index.ts';
import { fillMedia, mapInput } from '../../src/providers/mapping/index.ts';
import { modelOf } from './provider-world.ts';
import { fuzzRuns } from './fuzz-runs.ts';

const artifact = (letter: string): Artifact => ({
  kind: 'artifact',
  hash: letter.repeat(64),
  sizeBytes: 1,
  mime: 'image/png',
  name: `${letter}.png`,
});
const [a, b, c] = [artifact('a'), artifact('b'), artifact('c')];
const urls = new Map([a, b, c].map((each) => [each.hash, `https://u.example/${each.name}`]));
const prompt: FieldMapping = { name: 'prompt', required: true };

function map(fields: Record<string, FieldMapping>, input: JsonObject, fixed?: JsonObject): unknown {
  const model = modelOf({
    implementation: 'kie.market',
    fields: { prompt, ...fields },
    ...(fixed === undefined ? {} : { fixed: fixed as never }),
  });
  const mapped = mapInput(model, { prompt: 'x', ...input });
  return mapped.ok ? fillMedia(mapped.value, urls) : mapped.failure;
}

describe('mapping a neutral input to a model', () => {
  it('translates names, spelling and types, defaults included; what is fixed lies below', () => {
    const fields = {
      ratio: { name: 'image_size', map: { '1:1': 'square_hd' } },
      durationS: { name: 'duration', as: 'string' },
      audio: { name: 'sound', as: 'boolean', default: false },
      resolution: { name: 'quality', default: '1k', map: { '1k': 'basic' } },
    } as const;
    expect(map(fields, { ratio: '1:1', durationS: 5 }, { mode: 'pro', sound: true })).toEqual({
      mode: 'pro',
      prompt: 'x',
      image_size: 'square_hd',
      duration: '5',
      sound: false,
      quality: 'basic',
    });
  });

  it('folds what must not appear into the prompt of a model without a name for it', () => {
    expect(map({}, { avoid: 'text, watermark' })).toEqual({ prompt: 'x\n\nMust not appear: text, watermark' });
    expect(map({ avoid: { name: 'negative_prompt' } }, { avoid: 'text' })).toEqual({
      prompt: 'x',
      negative_prompt: 'text',
    });
  });

  it.each([
    [10, true],
    [11, false],
  ])('P086 counts code points, the folded part too: %i of 10', (length, fits) => {
    const text = '😀'.repeat(length);
    expect('name' in (map({ prompt: { ...prompt, max_chars: 10 } }, { prompt: text }) as object)).toBe(!fits);
    expect(map({ prompt: { ...prompt, max_chars: 10 } }, { prompt: '12345678', avoid: 'x' })).toMatchObject({
      name: 'prompt',
    });
  });

  it('P086 never cuts: the fault names the length and the limit', () => {
    expect(map({ prompt: { ...prompt, max_chars: 3 } }, { prompt: '一二三四' })).toMatchObject({
      what: expect.stringMatching(/4 characters.*at most 3/) as unknown,
    });
  });

  it('P087 refuses a length that the model does not have, or moves to the nearest and says so', () => {
    const durationS: FieldMapping = { name: 'duration', as: 'integer', values: [3, 5, 8] };
    expect(map({ durationS }, { durationS: 1 })).toMatchObject({ name: 'durationS' });
    const model = modelOf({
      implementation: 'kie.market',
      fields: { prompt, durationS: { ...durationS, adjust: 'nearest' } },
    });
    const mapped = mapInput(model, { prompt: 'x', durationS: 4 });
    expect(mapped).toMatchObject({ ok: true, value: { body: { duration: 5 }, values: { durationS: 5 } } });
    expect(mapped.ok && mapped.value.adjustments).toEqual(['时长（秒） 4 改为 5（此模型只支持 3, 5, 8）']);
  });

  it('P087 refuses sound from a model that has none, but not silence', () => {
    expect(map({}, { audio: true })).toMatchObject({ name: 'audio' });
    expect(map({}, { audio: false })).toEqual({ prompt: 'x' });
    expect(map({}, { count: 4 })).toMatchObject({ name: 'count' });
  });

  it('checks without sending where the field has no name', () => {
    const durationS: FieldMapping = { name: '', as: 'integer', values: [8] };
    expect(map({ durationS }, { durationS: 8 })).toEqual({ prompt: 'x' });
  });

  it('fills pictures in as list, single, roles or nested, and refuses too many or too few', () => {
    const list = { name: 'image_urls', as: 'list', max: 2 } as const;
    expect(map({ images: list }, { images: [a, b] })).toMatchObject({
      image_urls: ['https://u.example/a.png', 'https://u.example/b.png'],
    });
    expect(map({ images: list }, { images: [a, b, c] })).toMatchObject({
      name: 'images',
      what: expect.stringContaining('3 pictures') as unknown,
    });
    expect(map({ images: { ...list, required: true } }, {})).toMatchObject({ name: 'images' });
    expect(map({ images: { name: 'image_url' } }, { images: [a] })).toMatchObject({
      image_url: 'https://u.example/a.png',
    });
    expect(map({ images: { name: 'image_url' } }, { images: [a, b] })).toMatchObject({ name: 'images' });
    expect(map({ images: { name: 'roles#reference_image' } }, { images: [a, b] })).toMatchObject({
      roles: [
        { url: 'https://u.example/a.png', role: 'reference_image' },
        { url: 'https://u.example/b.png', role: 'reference_image' },
      ],
    });
    expect(map({}, { images: [a] })).toMatchObject({
      name: 'images',
      what: expect.stringContaining('takes no') as unknown,
    });
  });

  it('sends a first frame or reference pictures, never both, to a model that knows both', () => {
    const fields = {
      firstFrame: { name: 'first_frame_url' },
      lastFrame: { name: 'last_frame_url' },
      images: { name: 'refs', as: 'list' },
    } as const;
    expect(map(fields, { firstFrame: a, lastFrame: b, images: [c] })).toEqual({
      prompt: 'x',
      first_frame_url: 'https://u.example/a.png',
      last_frame_url: 'https://u.example/b.png',
    });
    expect(map(fields, { images: [c] })).toEqual({ prompt: 'x', refs: ['https://u.example/c.png'] });
  });

  it('puts the frames first into one list where the model has only that', () => {
    const fields = {
      images: { name: 'image_urls', as: 'list' },
      lastFrame: { name: 'image_urls', as: 'list' },
    } as const;
    expect(map(fields, { firstFrame: a, lastFrame: b })).toEqual({
      prompt: 'x',
      image_urls: ['https://u.example/a.png', 'https://u.example/b.png'],
    });
  });

  it('leaves the configuration untouched', () => {
    const fixed = Object.freeze({ metadata: Object.freeze({ watermark: false }) });
    expect(map({ seed: { name: 'metadata.seed' } }, { seed: 7 }, fixed)).toEqual({
      prompt: 'x',
      metadata: { watermark: false, seed: 7 },
    });
    expect(fixed).toEqual({ metadata: { watermark: false } });
  });

  it('never sends a value outside of what the model knows', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
        fc.boolean(),
        (given, values, adjust) => {
          const field: FieldMapping = { name: 'd', as: 'integer', values, ...(adjust ? { adjust: 'nearest' } : {}) };
          const got = map({ durationS: field }, { durationS: given }) as { d?: number };
          if (got.d !== undefined) expect(values).toContain(got.d);
        },
      ),
      fuzzRuns(100),
    );
  });
});
