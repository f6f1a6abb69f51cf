import type { Call } from '../endpoint.ts';
import { microsPerUnit } from '../../kernel/index.ts';
import type { TaskState, WorldState } from '../state.ts';
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

/** Costs of all tasks that a vendor ever took on: never less than what it will bill. */
const acceptedCosts = new WeakMap<WorldState, Map<string, number>>();

function acceptedMicros(world: World, vendor: string): number {
  const known = acceptedCosts.get(world.state) ?? new Map<string, number>();
  acceptedCosts.set(world.state, known);
  const sum =
    known.get(vendor) ??
    Object.values(world.state.tasks)
      .filter((task) => task.vendor === vendor)
      .reduce((whole, task) => whole + costOf(task), 0);
  known.set(vendor, sum);
  return sum;
}

function costOf(task: Pick<TaskState, 'cost'>): number {
  return task.cost.reduce((sum, line) => sum + line.amountMicros, 0);
}

/** Whether the account can pay one more task, and if so, notes it. The whole bill is only added up when money is short. */
export function takeFunds(world: World, vendor: string, amountMicros: number): boolean {
  const funds = world.state.funds[vendor] ?? givenUnits * microsPerUnit;
  const accepted = acceptedMicros(world, vendor);
  if (funds - accepted < amountMicros && remainingMicros(world, vendor) < amountMicros) return false;
  acceptedCosts.get(world.state)?.set(vendor, accepted + amountMicros);
  return true;
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
