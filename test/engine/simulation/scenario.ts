import type { Definitions } from '../../../src/contract/index.ts';
import { createSeededRandom, type JsonObject, type Random, randomInt } from '../../../src/kernel/index.ts';
import { define, imageSkill, provider, textSkill } from '../support/definitions.ts';
import type { Behaviour, Script } from '../support/vendor.ts';

/** Three kinds of purchases, parallel ones, a map, a fallback vendor, a function: enough for every path of the engine. */
export function scenarioDefinitions(): Definitions {
  const both = (model: string): object => ({
    candidates: [
      { provider: 'acme', model },
      { provider: 'backup', model },
    ],
    max_paid_calls: 6,
  });
  return define({
    workflows: [
      {
        workflow: 'film',
        input: { type: 'object', properties: { idea: { type: 'string' } } },
        nodes: {
          write: { kind: 'skill', skill: 'writer', input: { prompt: '$.input.idea' } },
          left: { kind: 'skill', skill: 'painter', input: { prompt: '$.nodes.write.output.text' } },
          right: { kind: 'skill', skill: 'painter', input: { prompt: '$.input.idea' } },
          list: { kind: 'function', function: 'echo', input: { shots: ['one', 'two', 'three'] }, after: ['write'] },
          shots: {
            kind: 'map',
            over: '$.nodes.list.output.shots',
            max_items: 5,
            concurrency: 2,
            on_item_failure: 'keep',
            input: { prompt: '$.item' },
            body: { skill: 'painter' },
          },
          shoot: {
            kind: 'skill',
            skill: 'camera',
            input: {
              prompt: '$.nodes.write.output.text',
              images: ['$.nodes.left.output.images[0]', '$.nodes.right.output.images[0]'],
            },
            params: { durationS: 5, audio: false },
            after: ['shots'],
          },
        },
        output: { film: '$.nodes.shoot.output.videos', shots: '$.nodes.shots.output.items[*].images[*]' },
      },
    ],
    skills: [
      textSkill('writer', { ...both('text'), degrade: { output: { text: 'fixed: {{prompt}}' }, note: '固定文案' } }),
      imageSkill('painter', both('image')),
      { ...imageSkill('camera', both('video')), capability: 'video.generate', input: { type: 'object' } },
    ],
    providers: { acme: provider('acme', { concurrency: 4 }), backup: provider('backup') },
  });
}

/** A vendor in a bad mood. Everything is drawn from the seed; a text is never lost, since its default is to buy again. */
export function moodyScript(seed: number, canBeAsked: boolean): Script {
  const random = createSeededRandom(seed);
  return ({ model }) => {
    const isText = model.startsWith('text');
    const submit = isText ? pick(random, textSubmits) : pick(random, canBeAsked ? askedSubmits : submits);
    const output: JsonObject | undefined = isText
      ? { text: `text ${randomInt(random, 1_000_000)}`, finish: 'stop' }
      : undefined;
    return {
      submit,
      submitMs: randomInt(random, 4_000),
      durationMs: 5_000 + randomInt(random, 240_000),
      result: isText ? 'succeed' : pick(random, results),
      checkFailRatio: 0.1,
      costMicros: 1_000 * (1 + randomInt(random, 900)),
      failure: pick(random, failures),
      ...(output === undefined ? {} : { output }),
    };
  };
}

type Weighted<T> = readonly (readonly [number, T])[];

const submits: Weighted<Behaviour['submit']> = [
  [70, 'accept'],
  [5, 'complete'],
  [9, 'refuse'],
  [4, 'fail'],
  [5, 'lose'],
  [4, 'drop'],
  [3, 'hang'],
];
const askedSubmits: Weighted<Behaviour['submit']> = [
  [60, 'accept'],
  [5, 'complete'],
  [9, 'refuse'],
  [4, 'fail'],
  [10, 'lose'],
  [8, 'drop'],
  [4, 'hang'],
];
const textSubmits: Weighted<Behaviour['submit']> = [
  [80, 'complete'],
  [15, 'refuse'],
  [5, 'fail'],
];
const results: Weighted<NonNullable<Behaviour['result']>> = [
  [78, 'succeed'],
  [10, 'fail'],
  [5, 'weird'],
  [3, 'expire'],
  [2, 'never'],
  [2, 'forget'],
];
const failures: Weighted<NonNullable<Behaviour['failure']>> = [
  [5, { kind: 'overload', code: '503', message: 'busy' }],
  [3, { kind: 'rate-limit', code: '429', message: 'slow', retryAfterMs: 20_000 }],
  [3, { kind: 'generation-failed', code: 'bad', message: 'bad' }],
  [1, { kind: 'content-policy', code: 'policy', message: 'no' }],
  [1, { kind: 'balance', code: '402', message: 'empty' }],
];

function pick<T>(random: Random, choices: Weighted<T>): T {
  const total = choices.reduce((sum, [weight]) => sum + weight, 0);
  let left = random.next() * total;
  for (const [weight, choice] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  throw new Error('no choice');
}
