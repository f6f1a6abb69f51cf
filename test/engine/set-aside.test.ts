import { describe, expect, it } from 'vitest';
import { pictureWorld } from './support/picture-world.ts';

describe('what is let go from memory while a vendor works', () => {
  it('is on disk again with the settlement: request, input, price', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', durationMs: 60_000 }) });
    const id = await world.submit({ input: { prompt: 'a long prompt' } });
    await world.clock.advance(30_000);
    const [waiting] = await world.attempts(id);
    expect(waiting?.state).toBe('accepted');
    await world.settle(id);
    const [settled] = await world.attempts(id);
    expect(settled?.state).toBe('succeeded');
    expect(settled?.request['input']).toMatchObject({ prompt: 'a long prompt' });
    expect(settled?.request).toEqual(waiting?.request);
    expect(await world.cny(id)).toBe(world.acme.bill());
  });

  it('is on disk still when the task is overdue, with the sum at risk', async () => {
    const world = await pictureWorld({ script: () => ({ submit: 'accept', result: 'never' }) });
    const id = await world.submit({ input: { prompt: 'a long prompt' } });
    await world.settle(id);
    const [overdue] = await world.attempts(id);
    expect(overdue?.state).toBe('overdue');
    expect(overdue?.request['input']).toMatchObject({ prompt: 'a long prompt' });
    const told = (await world.eventsOf(id)).find((event) => event.type === 'attempt-overdue');
    expect(told?.data['atRiskCny']).toBe('0.1000');
  });
});
