import type { WakeSource } from '../../src/feishu/index.ts';
import { randomInt } from '../../src/kernel/index.ts';
import { createSandboxWake } from '../../src/app/index.ts';
import type { SimWorld } from './world.ts';

type WakeEvent = Parameters<Parameters<WakeSource['start']>[0]>[0];

const minuteMs = 60_000;
/** In so many of the worlds the long connection is up; in the others polling is alone. */
const connectedChance = 0.5;

/**
 * The long connection of one life of the worker, as bad as it may be: its events come twice, minutes late, in another
 * order or not at all, the worker's own edits among them, and now and then the link is down for a while.
 */
export function createSimWake(world: SimWorld): WakeSource | undefined {
  if (world.luck('connected').next() >= connectedChance) return undefined;
  const random = world.luck(`wake ${world.clock.steps()}`);
  const inner = createSandboxWake(world.sandbox);
  const lostChance = random.next() * 0.3;
  let isUp = true;
  const flap = (): void => {
    isUp = !isUp;
    world.clock.after((isUp ? 5 : 1) * minuteMs + randomInt(random, (isUp ? 90 : 15) * minuteMs), flap);
  };
  world.clock.after(randomInt(random, 60 * minuteMs), flap);
  return {
    ...inner,
    start: async (onWake) => {
      const tell = (event: WakeEvent, withinMs: number): void => {
        world.clock.after(50 + randomInt(random, withinMs), () => onWake(event));
      };
      await inner.start((event) => {
        if (!isUp || random.next() < lostChance) return;
        tell(event, random.next() < 0.15 ? 10 * minuteMs : 500);
        if (random.next() < 0.15) tell(event, 2 * minuteMs);
      });
    },
    isAlive: () => isUp && inner.isAlive(),
  };
}
