import type { Settings } from '../../../src/contract/index.ts';
import type { EngineDeps } from '../../../src/engine/index.ts';
import { createVirtualClock } from '../../../src/kernel/index.ts';
import { define, imageSkill, imageWorkflow, shippedSettings, textSkill } from './definitions.ts';
import { createFaults, type Faults } from './faulty-store.ts';
import { createScriptedVendor, type Script, type ScriptedVendor } from './vendor.ts';
import { createWorld, echo, type World } from './world.ts';

export interface AskingWorld extends World {
  readonly acme: ScriptedVendor;
  readonly faults: Faults;
}

/** A world whose store can be made to refuse reads: a picture by default, with a judge or a planner where asked for. */
export async function askingWorld(
  options: {
    readonly workflows?: readonly object[];
    readonly skills?: readonly object[];
    readonly script?: Script;
    readonly deps?: Partial<EngineDeps>;
    readonly settings?: (settings: Settings) => Partial<Settings>;
  } = {},
): Promise<AskingWorld> {
  const clock = createVirtualClock();
  const acme = createScriptedVendor({ clock, script: options.script ?? drawing });
  const faults = createFaults();
  const world = await createWorld({
    definitions: define({
      workflows: options.workflows ?? [imageWorkflow()],
      skills: options.skills ?? [imageSkill('painter')],
    }),
    clock,
    settings: shippedSettings(options.settings),
    providers: new Map([['acme', acme.provider]]),
    functions: { echo },
    change: (deps) => ({ store: faults.wrap(deps.store) }),
    ...(options.deps === undefined ? {} : { deps: options.deps }),
  });
  return Object.assign(Object.create(world) as World, { acme, faults });
}

/** Pictures take ten seconds; whoever is asked in words says yes, and chooses `draw`. */
export const drawing: Script = ({ model }) =>
  model === 'text-1'
    ? { submit: 'complete', output: { text: '{"ok":true,"workflow":"draw"}', finish: 'stop' } }
    : { submit: 'accept', durationMs: 10_000 };

const critic = textSkill('critic', {
  input: {},
  defaults: { prompt: 'is it good?' },
  parse: { as: 'json' },
  output: { type: 'object' },
});
/** The painter, and the critic that looks at its pictures. */
export const judged = [imageSkill('painter', { verify: [{ judge: 'critic' }] }), critic];
const planner = textSkill('planner', {
  input: {},
  defaults: { prompt: 'choose' },
  parse: { as: 'json' },
  output: { type: 'object', required: ['workflow'] },
});
/** A submission that leaves the workflow to the planner. */
export const choice = { workflow: ['draw', 'other'], planner: 'planner', input: { prompt: 'x' } };
export const choosing = {
  workflows: [imageWorkflow(), imageWorkflow('other')],
  skills: [imageSkill('painter'), planner],
};
