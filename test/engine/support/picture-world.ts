import type { Settings } from '../../../src/contract/index.ts';
import type { EngineDeps } from '../../../src/engine/index.ts';
import type { AttemptRecord } from '../../../src/engine/ports/index.ts';
import { createVirtualClock, type ExecutionId } from '../../../src/kernel/index.ts';
import { define, imageSkill, imageWorkflow, provider, shippedSettings } from './definitions.ts';
import { createScriptedVendor, type Script, type ScriptedVendor, type VendorOptions } from './vendor.ts';
import { createWorld, type World } from './world.ts';

export interface PictureWorld extends World {
  readonly acme: ScriptedVendor;
  readonly backup: ScriptedVendor;
  attempts(id: ExecutionId): Promise<readonly AttemptRecord[]>;
  /** Submits, waits for the end (or a hold), and gives the end. */
  draw(prompt?: string, extra?: Parameters<World['submit']>[0]): Promise<ExecutionId>;
}

/** A workflow of one picture, with two vendors: `acme`, and `backup` where the skill names it. */
export async function pictureWorld(
  options: {
    readonly acme?: Partial<VendorOptions>;
    readonly backup?: Partial<VendorOptions>;
    readonly script?: Script;
    readonly skill?: object;
    readonly workflow?: object;
    readonly providers?: Readonly<Record<string, object>>;
    readonly settings?: (settings: Settings) => Partial<Settings>;
    readonly deps?: Partial<EngineDeps>;
    readonly start?: boolean;
  } = {},
): Promise<PictureWorld> {
  const clock = createVirtualClock();
  const acme = createScriptedVendor({
    clock,
    name: 'acme',
    ...(options.script === undefined ? {} : { script: options.script }),
    ...options.acme,
  });
  const backup = createScriptedVendor({ clock, name: 'backup', ...options.backup });
  const definitions = define({
    workflows: [imageWorkflow('draw', options.workflow ?? {})],
    skills: [imageSkill('painter', options.skill ?? {})],
    providers: options.providers ?? { acme: provider('acme'), backup: provider('backup') },
  });
  const world = await createWorld({
    definitions,
    clock,
    settings: shippedSettings(options.settings),
    providers: new Map([
      ['acme', acme.provider],
      ['backup', backup.provider],
    ]),
    ...(options.deps === undefined ? {} : { deps: options.deps }),
    ...(options.start === undefined ? {} : { start: options.start }),
  });
  return Object.assign(Object.create(world) as World, {
    acme,
    backup,
    attempts: async (id: ExecutionId) => await world.store.attempts(id),
    draw: async (prompt = 'a cat', extra: Parameters<World['submit']>[0] = {}) => {
      const id = await world.submit({ input: { prompt }, ...extra });
      await world.settle(id);
      return id;
    },
  });
}

/** Both vendors, in order. */
export const twoCandidates = {
  candidates: [
    { provider: 'acme', model: 'image' },
    { provider: 'backup', model: 'image' },
  ],
};
