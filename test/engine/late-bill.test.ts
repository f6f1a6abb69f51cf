import { describe, expect, it } from 'vitest';
import type { ChargeRecord } from '../../src/engine/ports/index.ts';
import type { ExecutionId } from '../../src/kernel/index.ts';
import { provider } from './support/definitions.ts';
import { pictureWorld, type PictureWorld } from './support/picture-world.ts';
import type { Behaviour } from './support/vendor.ts';

/** A picture without a listed price, at a vendor that names a task's sum late. */
async function lateWorld(behaviour: Partial<Behaviour>): Promise<PictureWorld> {
  const image = { capability: ['image.generate'], implementation: 'acme.tasks', model: 'image-1' };
  const price = { currency: 'CNY', dated: '2026-01-01', unpriced: true };
  return await pictureWorld({
    providers: { acme: provider('acme', { models: { image: { ...image, price } } }) },
    script: () => ({ submit: 'accept', durationMs: 10_000, ...behaviour }),
  });
}

async function chargeOf(world: PictureWorld, id: ExecutionId): Promise<ChargeRecord | undefined> {
  return (await world.store.charges({})).find((charge) => charge.executionId === id);
}

const hourMs = 3_600_000;

describe('a bill that comes after its result', () => {
  it('is asked for until the vendor names it, and corrects the ledger', async () => {
    const world = await lateWorld({ tellsCostAfterMs: 84 * 60_000 });
    const id = await world.draw();
    expect(await chargeOf(world, id)).toMatchObject({ source: 'unpriced', amount: { micros: 0 } });
    await world.clock.advance(6 * hourMs);
    expect(await chargeOf(world, id)).toMatchObject({ source: 'vendor', amount: { currency: 'CNY', micros: 100_000 } });
    expect(await world.cny(id)).toBe(world.acme.bill());
    expect((await world.types(id)).filter((type) => type === 'charge-settled')).toHaveLength(2);
    const asked = world.acme.polls.length;
    await world.clock.advance(48 * hourMs);
    expect(world.acme.polls).toHaveLength(asked);
  });

  it('is asked for by the next life of the program too', async () => {
    const world = await lateWorld({ tellsCostAfterMs: 84 * 60_000 });
    const id = await world.draw();
    await world.restart();
    await world.clock.advance(6 * hourMs);
    expect(await chargeOf(world, id)).toMatchObject({ source: 'vendor', amount: { micros: 100_000 } });
  });

  it('a task that failed and is billed without a word about it is asked about as well', async () => {
    const world = await lateWorld({ result: 'fail', costMicros: 70_000, tellsCostAfterMs: hourMs });
    const id = await world.draw();
    await world.clock.advance(6 * hourMs);
    const charges = (await world.store.charges({})).filter((charge) => charge.executionId === id);
    expect(charges.map((charge) => charge.source)).toEqual(charges.map(() => 'vendor'));
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('a vendor that never names it is asked five times, and the charge stays marked', async () => {
    const world = await lateWorld({ tellsCostAfterMs: Number.POSITIVE_INFINITY });
    const id = await world.draw();
    const { length } = world.acme.polls;
    await world.clock.advance(72 * hourMs);
    expect(world.acme.polls).toHaveLength(length + 5);
    expect(await chargeOf(world, id)).toMatchObject({ source: 'unpriced' });
    expect(await world.store.documents('engine.late-bills')).toEqual([]);
  });

  it('nothing is asked about a sum that the price table knows', async () => {
    const world = await pictureWorld({
      script: () => ({ submit: 'accept', durationMs: 10_000, tellsCostAfterMs: hourMs }),
    });
    const id = await world.draw();
    const { length } = world.acme.polls;
    await world.clock.advance(24 * hourMs);
    expect(world.acme.polls).toHaveLength(length);
    expect(await chargeOf(world, id)).toMatchObject({ source: 'price_table', amount: { micros: 100_000 } });
  });
});
