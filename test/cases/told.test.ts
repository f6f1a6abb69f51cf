import { describe, expect, it } from 'vitest';
import { modelSchema } from '../../src/contract/index.ts';
import { mapInput } from '../../src/providers/mapping/index.ts';
import { pictureWorld, type PictureWorld, twoCandidates } from '../engine/support/picture-world.ts';

const overload = { kind: 'overload', code: '503', message: 'busy' } as const;

describe('P089 a success with nothing in it', () => {
  it.each([[{}], [{ images: [] }], [{ images: null }]])('P089 %j is a failure, never a green step', async (output) => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', output }), skill: { max_paid_calls: 2 } });
    const id = await world.draw();
    expect(await world.execution(id)).toMatchObject({ status: 'failed', failure: { kind: 'output-invalid' } });
    expect(world.acme.tasks).toHaveLength(2);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('P089 打回 with an unchanged prompt is bought anew, not taken from memory', async () => {
    const world = await pictureWorld();
    const first = await world.draw('same', { sourceRef: 'row', generation: 1 });
    const second = await world.draw('same', { sourceRef: 'row', generation: 2 });
    expect(world.acme.tasks.map((task) => task.body)).toEqual([{ prompt: 'same' }, { prompt: 'same' }]);
    expect(new Set(world.acme.arrivals).size).toBe(2);
    const outputs = [await world.execution(first), await world.execution(second)].map((each) => each.output);
    expect(outputs[0]).not.toEqual(outputs[1]);
  });

  it('P089 twin: within one generation the result is remembered', async () => {
    const world = await pictureWorld();
    await world.draw('same', { sourceRef: 'row', generation: 1 });
    await world.draw('same', { sourceRef: 'row', generation: 1 });
    expect(world.acme.tasks).toHaveLength(1);
  });
});

describe('P096 no quiet substitution', () => {
  const marksOf = async (world: PictureWorld): Promise<readonly string[]> => {
    const done = await world.execution(await world.draw());
    expect(done.status).toBe('succeeded');
    return done.marks.map((mark) => `${mark.kind}: ${mark.text}`);
  };

  it('P096 another vendor is told', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'refuse', failure: overload }), skill: twoCandidates });
    expect(await marksOf(world)).toEqual(['switched: 「draw」改用了备用通道 backup/image']);
  });

  it('P096 a stand-in of the workflow is told', async () => {
    const nodes = {
      draw: {
        kind: 'skill',
        skill: 'painter',
        input: { prompt: '$.input.prompt' },
        on_failure: { fallback: { preset: { images: [] } } },
      },
    };
    const world = await pictureWorld({
      script: () => ({ submit: 'refuse', failure: { ...overload, kind: 'content-policy' } }),
      workflow: { nodes },
    });
    expect(await marksOf(world)).toEqual([expect.stringMatching(/^degraded: 「draw」/)]);
  });

  it('P096 what the adapter changed to fit the model is told', async () => {
    const world = await pictureWorld();
    const adapter = world.acme.provider.adapters[0];
    const prepare = adapter?.prepare.bind(adapter);
    if (adapter !== undefined && prepare !== undefined) {
      adapter.prepare = async (call, signal) => {
        const prepared = await prepare(call, signal);
        return prepared.ok
          ? { ok: true, value: { ...prepared.value, adjustments: ['时长（秒） 4 改为 5'] } }
          : prepared;
      };
    }
    expect(await marksOf(world)).toEqual(['adjusted: 「draw」时长（秒） 4 改为 5']);
  });

  it('P096 a size that the model has no say in is told; what it can do is not', () => {
    const model = modelSchema.parse({
      capability: ['image.generate'],
      implementation: 'acme.tasks',
      model: 'image-1',
      fields: { prompt: { name: 'prompt' }, ratio: { name: 'aspect_ratio' } },
    });
    const mapped = mapInput({ id: 'image', ...model }, { prompt: 'x', ratio: '3:4', resolution: '2k' });
    expect(mapped.ok && mapped.value.adjustments).toEqual(['清晰度 2k 未生效（此模型不支持设置）']);
  });

  it('P096 fidelity first: a skill with one candidate and no fallback fails rather than change anything', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'refuse', failure: overload }) });
    const id = await world.draw();
    expect((await world.execution(id)).status).toBe('failed');
    expect(world.backup.arrivals).toHaveLength(0);
  });

  it('P096 twin: where nothing was changed nothing is said', async () => {
    expect(await marksOf(await pictureWorld())).toEqual([]);
  });
});

describe('P112 retries come before any fallback', () => {
  const failsTwice = {
    script: ({ count }: { readonly count: number }) =>
      count <= 2 ? ({ submit: 'refuse', failure: overload } as const) : ({ submit: 'accept' } as const),
  };

  it('P112 the third try of the first vendor works: the next vendor is not asked', async () => {
    const world = await pictureWorld({ ...failsTwice, skill: { ...twoCandidates, retry: { attempts: 3 } } });
    const done = await world.execution(await world.draw());
    expect(done).toMatchObject({ status: 'succeeded', marks: [] });
    expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([3, 0]);
  });

  it.each([['skip'], [{ fallback: { preset: { images: [] } } }]])(
    'P112 a node that may fail (%j) is tried three times all the same',
    async (on_failure) => {
      const nodes = {
        draw: { kind: 'skill', skill: 'painter', input: { prompt: 'x' }, retry: { attempts: 3 }, on_failure },
      };
      const world = await pictureWorld({ ...failsTwice, workflow: { nodes } });
      const done = await world.execution(await world.draw());
      expect(done).toMatchObject({ status: 'succeeded', marks: [] });
      expect(done.output?.['images']).toHaveLength(1);
      expect(world.acme.arrivals).toHaveLength(3);
    },
  );

  it('P112 twin: with one try the fallback comes at once', async () => {
    const world = await pictureWorld({ ...failsTwice, skill: { ...twoCandidates, retry: { attempts: 1 } } });
    const done = await world.execution(await world.draw());
    expect(done.marks).toMatchObject([{ kind: 'switched' }]);
    expect([world.acme.arrivals.length, world.backup.arrivals.length]).toEqual([1, 1]);
  });
});
