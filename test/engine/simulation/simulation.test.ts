import { describe, expect, it } from 'vitest';
import type { EngineDeps } from '../../../src/engine/index.ts';
import type { Store, StoreCommand } from '../../../src/engine/ports/index.ts';
import type { ScriptedVendor } from '../support/vendor.ts';
import type { Violation } from './check-books.ts';
import { simulateSeed, type SimulationOptions } from './simulate.ts';

async function violationsOver(
  seeds: number,
  options: SimulationOptions = {},
): Promise<{ readonly violations: readonly Violation[]; readonly crashes: number }> {
  const violations: Violation[] = [];
  let crashes = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const report = await simulateSeed(seed, options);
    crashes += report.crashes;
    violations.push(...report.violations);
  }
  return { violations, crashes };
}

describe('engine and store against moody vendors, killed again and again', () => {
  it('pays once, loses nothing, ends everything', async () => {
    const { violations, crashes } = await violationsOver(15);
    expect(violations).toEqual([]);
    expect(crashes).toBeGreaterThan(30);
  }, 120_000);

  it('the same seed gives the same world', async () => {
    expect(await simulateSeed(3)).toEqual(await simulateSeed(3));
  }, 60_000);

  it('a planted second submit is seen', async () => {
    const { violations } = await violationsOver(5, { plantVendor: submitAgainOnDoubt });
    expect(violations.map((each) => each.rule)).toContain('duplicate-submit');
  }, 120_000);

  it('a planted lost charge is seen', async () => {
    const { violations } = await violationsOver(2, { plant: dropCharges });
    expect(violations.map((each) => each.rule)).toContain('unledgered-charge');
  }, 120_000);
});

/** What a helpful SDK does: the answer is lost, so it sends once more. */
function submitAgainOnDoubt(vendor: ScriptedVendor): void {
  for (const adapter of vendor.provider.adapters) {
    const submit = adapter.submit.bind(adapter);
    adapter.submit = async (request, signal) => {
      const outcome = await submit(request, signal);
      return outcome.kind === 'unknown' ? await submit(request, signal) : outcome;
    };
  }
}

/** Every third settlement forgets its charge. */
function dropCharges(deps: EngineDeps): Partial<EngineDeps> {
  let count = 0;
  const keep = (command: StoreCommand): boolean => {
    if (command.type !== 'put-charge') return true;
    count += 1;
    return count % 3 !== 0;
  };
  const store: Store = Object.create(deps.store) as Store;
  store.commit = (commands) => deps.store.commit(commands.filter(keep));
  return { store };
}
