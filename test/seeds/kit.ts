import { createVirtualClock, type VirtualClock } from '../../src/kernel/index.ts';
import type { Definitions } from '../../src/contract/index.ts';
import { define, provider } from '../engine/support/definitions.ts';
import { createScriptedVendor, type Script, type ScriptedVendor } from '../engine/support/vendor.ts';
import { createWorld, echo, type World, type WorldOptions } from '../engine/support/world.ts';

export interface SeedWorld extends World {
  readonly acme: ScriptedVendor;
  readonly backup: ScriptedVendor;
  /** Later executions use these. */
  redefine(draft: Parameters<typeof define>[0]): void;
}

/** A world of two vendors and a configuration that may be exchanged while it lives. */
export async function seedWorld(
  draft: Parameters<typeof define>[0],
  options: {
    readonly script?: Script;
    readonly backupScript?: Script;
    readonly clock?: VirtualClock;
  } & Partial<WorldOptions> = {},
): Promise<SeedWorld> {
  const clock = options.clock ?? createVirtualClock();
  const acme = createScriptedVendor({
    clock,
    name: 'acme',
    canCancel: true,
    ...(options.script === undefined ? {} : { script: options.script }),
  });
  const backup = createScriptedVendor({
    clock,
    name: 'backup',
    ...(options.backupScript === undefined ? {} : { script: options.backupScript }),
  });
  const current: { definitions: Definitions } = { definitions: withProviders(draft) };
  const world = await createWorld({
    ...options,
    definitions: current.definitions,
    clock,
    functions: { echo, ...options.functions },
    providers: new Map([
      ['acme', acme.provider],
      ['backup', backup.provider],
    ]),
    deps: { ...options.deps, definitions: () => current.definitions },
  });
  return Object.assign(Object.create(world) as World, {
    acme,
    backup,
    redefine: (next: Parameters<typeof define>[0]) => {
      current.definitions = withProviders(next);
    },
  });
}

function withProviders(draft: Parameters<typeof define>[0]): Definitions {
  return define({ providers: { acme: provider('acme'), backup: provider('backup') }, ...draft });
}

/** Text answers: what was asked, in capitals of its own, so that outputs differ when inputs do. */
export const answering: Script = ({ body, model }) =>
  model.startsWith('text')
    ? {
        submit: 'complete',
        output: { text: `about ${promptOf(body['prompt'])}`, finish: 'stop' },
        costMicros: 1_000,
      }
    : { submit: 'accept', durationMs: 20_000 };

export function promptOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
