import { describe, expect, it } from 'vitest';
import { type Logger, silentLogger, sleep } from '../../src/kernel/index.ts';
import { pictureWorld, type PictureWorld } from './support/picture-world.ts';

/** A world whose warnings are kept, with tasks of a minute behind a slow submit. */
async function slowWorld(): Promise<PictureWorld & { readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => warnings.push(message) };
  const script = (): { submit: 'accept'; submitMs: number; durationMs: number } => ({
    submit: 'accept',
    submitMs: 20_000,
    durationMs: 60_000,
  });
  return Object.assign(await pictureWorld({ script, deps: { logger } }), { warnings });
}

describe('a sweep while executions come and go', () => {
  it('leaves a submission alone whose commit is on disk and not yet told', async () => {
    const world = await slowWorld();
    const { store, clock } = world;
    const commit = store.commit.bind(store);
    store.commit = async (commands) => {
      await commit(commands);
      if (commands.some((command) => command.type === 'create-execution')) await sleep(clock, 12_000);
    };
    const submitting = world.submit({ input: { prompt: 'x' } });
    await clock.advance(15_000);
    const id = await submitting;
    expect((await world.settle(id)).status).toBe('succeeded');
    expect((await world.execution(id)).epoch).toBe(1);
    expect(world.warnings).toEqual([]);
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('does not run again what has ended since its list was read', async () => {
    const world = await slowWorld();
    const { store, clock } = world;
    const heads = store.unfinishedHeads.bind(store);
    store.unfinishedHeads = async (limit, after) => {
      const read = await heads(limit, after);
      if (read.length > 0) await sleep(clock, 120_000);
      return read;
    };
    const id = await world.submit({ input: { prompt: 'x' } });
    expect((await world.settle(id)).status).toBe('succeeded');
    await clock.advance(200_000);
    expect((await world.types(id)).filter((type) => type === 'execution-ended')).toHaveLength(1);
    expect((await world.outbox()).filter((entry) => entry.message.kind === 'ended')).toHaveLength(1);
    expect(world.acme.arrivals).toHaveLength(1);
  });

  it('takes up what nobody drives', async () => {
    const world = await slowWorld();
    const id = await world.submit({ input: { prompt: 'x' } });
    await world.clock.advance(30_000);
    const { epoch } = await world.execution(id);
    await world.store.commit([{ type: 'claim-execution', id, owner: 'somebody', expectedEpoch: epoch }]);
    expect((await world.settle(id)).status).toBe('succeeded');
    expect((await world.execution(id)).epoch).toBe(epoch + 2);
    expect(world.acme.arrivals).toHaveLength(1);
  });
});
