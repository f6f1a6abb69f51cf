import type { Call } from '../endpoint.ts';
import { microsPerUnit } from '../../kernel/index.ts';
import type { World } from '../world.ts';
import { taskBill } from './tasks.ts';

/** Whether the call carries a key that this vendor takes. */
export function hasKey(world: World, vendor: string, call: Call): boolean {
  const key = /^Bearer\s+(\S+)$/i.exec(call.request.headers.get('authorization') ?? '')?.[1];
  if (key === undefined) return false;
  const wanted = world.keys[vendor];
  return wanted === undefined ? !key.includes('bad') : key === wanted;
}

const givenUnits = 20_000;

/** Millionths of a vendor's credit that are left: what was given minus what was billed, as of now. */
export function remainingMicros(world: World, vendor: string): number {
  const nowMs = world.clock.nowMs();
  let spent = 0;
  for (const task of Object.values(world.state.tasks)) {
    if (task.vendor === vendor) for (const line of taskBill(task, nowMs)) spent += line.amountMicros;
  }
  return (world.state.funds[vendor] ?? givenUnits * microsPerUnit) - spent;
}

/** A sliding allowance: true when one more call fits into the window. */
export function createAllowance(world: World, most: number, windowMs: number): () => boolean {
  let taken: number[] = [];
  return () => {
    if (!world.controls.enforceRates) return true;
    const nowMs = world.clock.nowMs();
    taken = taken.filter((atMs) => nowMs - atMs < windowMs);
    if (taken.length >= most) return false;
    taken.push(nowMs);
    return true;
  };
}

/** A JSON number out of millionths: 4500000 → 4.5. */
export function unitsOf(micros: number): number {
  return micros / microsPerUnit;
}
