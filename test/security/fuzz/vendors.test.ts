import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capability } from '../../../src/contract/index.ts';
import { isJsonObject } from '../../../src/kernel/index.ts';
import { drive } from '../../providers/drive.ts';
import { fixture } from '../../providers/fixtures.ts';
import { fuzzRuns } from '../../providers/fuzz-runs.ts';
import { adapterOf, type ProviderWorld, providerWith, type Reply, signal } from '../../providers/provider-world.ts';

const words = fc.constantFrom(
  ...['success', 'succeeded', 'completed', 'fail', 'failed', 'running', 'RUNNING', 'SUCCEEDED', 'PENDING', 'expired'],
  ...[
    '',
    'x',
    '200',
    '0',
    'https://f.example/a.png',
    'http://f.example/a.mp4',
    'file:///etc/passwd',
    'javascript:1',
    't1',
  ],
);
const names = fc.constantFrom(
  ...['code', 'msg', 'message', 'data', 'taskId', 'task_id', 'id', 'state', 'status', 'output', 'task_status', 'error'],
  ...[
    'results',
    'url',
    'video_url',
    'resultJson',
    'resultUrls',
    'successFlag',
    'response',
    'content',
    'usage',
    'result',
  ],
  ...['billing', 'creditsConsumed', 'b64_json', 'choices', 'remain_credits', 'request_id', '__proto__', 'orig_prompt'],
);
const { shape } = fc.letrec<{ shape: unknown }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    words,
    fc.constantFrom(200, 0, 1, -1, 422, 501, 1e21, true, false, null),
    fc.string({ maxLength: 8 }),
    fc.array(tie('shape'), { maxLength: 3 }),
    fc.dictionary(names, tie('shape'), { maxKeys: 6 }),
    fc.dictionary(names, tie('shape'), { maxKeys: 6 }).map((value) => JSON.stringify(value)),
  ),
}));
const anyAnswer = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 204, 301, 400, 401, 402, 404, 422, 429, 500, 503, 524),
  body: fc.oneof(
    { arbitrary: shape.map((value) => JSON.stringify(value)), weight: 8 },
    fc.constantFrom('', '<html>502</html>', '{"code":200,', 'null', '\ufeff{}', 'data: [DONE]\n\n', '[DONE]'),
    fc.string({ unit: 'binary', maxLength: 30 }),
  ),
});
/** Recorded answers with one or two members made wrong: nearest to what a change at a vendor looks like. */
const recorded: readonly unknown[] = [
  'kie-record-success',
  'kie-veo-success',
  'toapis-completed',
  'ark-task-succeeded',
  'dashscope-succeeded',
].map((name): unknown =>
  JSON.parse(fixture(`${name}.json`), (key, value: unknown) => (/^(taskId|task_id|id)$/.test(key) ? 't1' : value)),
);
const spoilt = fc
  .tuple(fc.constantFrom(...recorded), fc.array(fc.tuple(fc.nat(), fc.option(shape)), { maxLength: 2 }))
  .map(([whole, edits]) => edits.reduce<unknown>((value, [at, put]) => spoil(value, at, put), structuredClone(whole)));

/** Puts `put` (or nothing) in place of the member that stands at number `at`, counted through all of them. */
function spoil(whole: unknown, at: number, put: unknown): unknown {
  const places: { readonly parent: object; readonly name: string }[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const name of Object.keys(value)) {
      places.push({ parent: value, name });
      walk(Reflect.get(value, name));
    }
  };
  walk(whole);
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return whole;
  if (put === null) Reflect.deleteProperty(place.parent, place.name);
  else Reflect.set(place.parent, place.name, put);
  return whole;
}

const answer = fc.oneof(
  anyAnswer,
  spoilt.map((value) => ({ status: 200, body: JSON.stringify(value) })),
);
type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never;

const reply =
  ({ status, body }: Answer): (() => Reply) =>
  () =>
    new Response(status === 204 ? null : body, { status, headers: { location: 'https://elsewhere.example' } });

const adapters = ['kie', 'toapis', 'ark', 'dashscope'].flatMap((vendor) =>
  providerWith(vendor)
    .provider.adapters.filter((adapter) => adapter.poll !== undefined)
    .map((adapter) => [vendor, adapter.implementation] as const),
);

function world(vendor: string, given: Answer): ProviderWorld {
  const made = providerWith(vendor);
  made.answer('/', reply(given));
  return made;
}

/** Every address of an output, however deep. */
function addressesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(addressesIn);
  if (!isJsonObject(value)) return [];
  const { url } = value;
  return [...(typeof url === 'string' ? [url] : []), ...Object.values(value).flatMap(addressesIn)];
}

const successes = new Map<string, number>();

describe.each(adapters)('fuzz: answers of %s to %s', (vendor, implementation) => {
  it('a status check is an outcome, and a success holds files at http addresses alone', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(answer, fc.constantFrom('image', 'video'), async (given, media) => {
        const made = world(vendor, given);
        const adapter = adapterOf(made, implementation);
        const outcome = await drive(made.clock, adapter.poll!({ taskId: 't1', media, seconds: 5 }, signal));
        expect(outcome.kind).toMatch(
          /^(running|succeeded|failed|expired|canceled|not-visible|unrecognised|check-failed)$/,
        );
        if (outcome.kind !== 'succeeded') return;
        count += 1;
        expect(given.status).toBeLessThan(300);
        const kind =
          implementation.includes('video') || implementation.includes('veo') ? 'video.generate' : 'image.generate';
        const fits = (['image.generate', 'video.generate'] as const).some(
          (each) => capability(each).output.safeParse(outcome.output).success,
        );
        expect(fits, `${kind} ${JSON.stringify(outcome.output)}`).toBe(true);
        for (const address of addressesIn(outcome.output)) expect(address).toMatch(/^https?:\/\//);
      }),
      fuzzRuns(80),
    );
    successes.set(implementation, count);
  });

  it('a submit is an outcome: accepted only with an id, unknown when in doubt', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (given) => {
        const made = world(vendor, given);
        const adapter = adapterOf(made, implementation);
        const [first = 'image.generate'] = adapter.capabilities;
        const request = {
          implementation,
          version: adapter.version,
          key: 'k1',
          model: 'maker/x',
          capability: first,
          body: { payload: { model: 'maker/x', prompt: 'x' }, preparedAt: 1 },
        };
        const outcome = await drive(made.clock, adapter.submit(request, signal));
        if (outcome.kind === 'accepted') expect(outcome.handle['taskId']).toMatch(/./);
        if (outcome.kind === 'accepted' || outcome.kind === 'completed') expect(given.status).toBeLessThan(300);
        if ('failure' in outcome) expect(outcome.failure.message.length).toBeLessThan(2_000);
        expect(made.calls.length).toBeLessThanOrEqual(1);
      }),
      fuzzRuns(60),
    );
  });

  it('a balance is a number or a failure', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (given) => {
        const made = world(vendor, given);
        if (made.provider.balance === undefined) return;
        const got = await drive(made.clock, made.provider.balance(signal));
        if (got.ok) expect(Number.isSafeInteger(got.value.remaining.micros)).toBe(true);
      }),
      fuzzRuns(30),
    );
  });
});

it('twin: among the answers were successes of every vendor', () => {
  for (const vendor of ['kie', 'toapis', 'ark', 'dashscope']) {
    const reached = [...successes].filter(([name]) => name.startsWith(vendor)).reduce((sum, [, each]) => sum + each, 0);
    expect(reached, vendor).toBeGreaterThan(0);
  }
});
