import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Provider, providersFileSchema } from '../../src/contract/index.ts';
import { createFunctions, createSharpPictureWorker } from '../../src/functions/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  type Fetch,
  isJsonObject,
  Secret,
  silentLogger,
  type VirtualClock,
} from '../../src/kernel/index.ts';
import { createMemorySpool } from '../../src/media/index.ts';
import { providerFactories } from '../../src/providers/index.ts';
import { createInProcessFetch, createPlainPainter, createSandbox, noLatencies } from '../../src/sandbox/index.ts';
import { define, provider as scripted } from '../engine/support/definitions.ts';
import { createScriptedVendor } from '../engine/support/vendor.ts';
import { createWorld, echo, type World } from '../engine/support/world.ts';

const root = join(import.meta.dirname, '../..');
const shipped = providersFileSchema.parse(parse(readFileSync(join(root, 'config/providers.yaml'), 'utf8'))).providers;
const authoring = readFileSync(join(root, 'docs/authoring.md'), 'utf8');

function openProvider(vendor: string, clock: VirtualClock, fetch: Fetch, baseUrl: string): Provider {
  return providerFactories[vendor]!({
    account: { id: vendor, baseUrl, key: new Secret('key'), proxy: 'direct' },
    fetch,
    clock,
    ids: createIdSource(clock, createSeededRandom(2)),
    logger: silentLogger,
    media: createMemorySpool(),
    timeouts: { connectMs: 15_000, submitMs: 180_000, queryMs: 30_000, textMs: 180_000 },
  });
}

const functions = createFunctions({
  redLines: { rules: [], avoid: [] },
  pictures: createSharpPictureWorker(),
  media: createMemorySpool(),
  knowledge: () =>
    Promise.resolve([
      { source: '面料.md', text: '# 真丝\n桑蚕丝，可机洗。\n# 羊毛\n不可水洗。' },
      { source: '知识表 rec1', text: '# 牛仔\n会有浮色，先单独洗一次。' },
    ]),
});

describe('seed 004: web.search', () => {
  /** The skill that the authoring guide shows, on the account that ships, against the sandbox. */
  async function searching(): Promise<{
    world: World;
    sandbox: ReturnType<typeof createSandbox>;
    spare: ReturnType<typeof createScriptedVendor>;
  }> {
    const clock = createVirtualClock();
    const baseUrl = 'http://127.0.0.1:7010';
    const sandbox = createSandbox({
      clock,
      random: createSeededRandom(3),
      baseUrl,
      tables: [],
      painter: createPlainPainter(),
      latencies: noLatencies,
    });
    const shown = /^```yaml config\/skills\/web-searcher\.yaml\n([\s\S]*?)^```$/m.exec(authoring)?.[1] ?? '';
    const skill: unknown = parse(shown);
    if (!isJsonObject(skill)) throw new Error('the guide shows no skill');
    const spare = createScriptedVendor({
      clock,
      name: 'spare',
      capabilities: ['web.search'],
      script: () => ({ submit: 'complete', output: { hits: [{ source: 's', title: 't', text: 'spare' }] } }),
    });
    const spareModels = { web: { capability: ['web.search'], implementation: 'spare.tasks', model: 'w' } };
    const world = await createWorld({
      clock,
      functions: { echo },
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              look: {
                kind: 'skill',
                skill: 'web-searcher',
                input: { query: '$.input.query', limit: 3 },
                on_failure: { fallback: { preset: { hits: [] } } },
              },
              write: { kind: 'function', function: 'echo', input: { pages: '$.nodes.look.output.hits[*].source' } },
            },
            output: { pages: '$.nodes.write.output.pages' },
          },
        ],
        skills: [{ ...skill, candidates: [...(skill['candidates'] as object[]), { provider: 'spare', model: 'web' }] }],
        providers: { bocha: { ...shipped['bocha'], key: 'x' }, spare: { ...scripted('spare'), models: spareModels } },
      }),
      providers: new Map([
        ['bocha', openProvider('bocha', clock, createInProcessFetch(sandbox), `${baseUrl}/bocha`)],
        ['spare', spare.provider],
      ]),
    });
    return { world, sandbox, spare };
  }

  it('seed 004: web.search is a skill with candidates: found, booked at its price, remembered', async () => {
    const { world, sandbox } = await searching();
    const id = await world.submit({ input: { query: '碎花连衣裙' }, sourceRef: 'r' });
    const done = await world.settle(id);
    expect(done.output?.['pages']).toHaveLength(3);
    expect(await world.cny(id)).toBe(36_000);
    expect(await world.store.charges({ executionId: id })).toMatchObject([{ source: 'price_table', state: 'settled' }]);
    const again = await world.submit({ input: { query: '碎花连衣裙' }, sourceRef: 'r' });
    expect((await world.settle(again)).output).toEqual(done.output);
    expect(sandbox.books.billTotals()).toMatchObject({ bocha: { calls: 1_000_000 } });
  });

  it('seed 004: web.search goes to the next candidate when the account is empty, and pauses the provider', async () => {
    const { world, sandbox, spare } = await searching();
    sandbox.platform.setFunds('bocha', 0);
    const done = await world.settle(await world.submit({ input: { query: 'x1' } }));
    expect(done.output).toEqual({ pages: ['s'] });
    await world.settle(await world.submit({ input: { query: 'x2' } }));
    expect([sandbox.books.calls()['bocha.search'], spare.arrivals.length]).toEqual([1, 2]);
    const types = (await world.store.events(0, 1_000)).map((event) => event.type);
    expect(types).toContain('provider-paused');
  });
});

describe('seed 004: http.request', () => {
  it('seed 004: http.request is a skill, free of charge; an answer of any status is data', async () => {
    const clock = createVirtualClock();
    const seen: string[] = [];
    const fetch: Fetch = (url, init) => {
      seen.push(`${init.method} ${url}`);
      return Promise.resolve(new Response(JSON.stringify({ stock: 3 }), { status: url.endsWith('/gone') ? 404 : 200 }));
    };
    const world = await createWorld({
      clock,
      functions: { echo },
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              ask: { kind: 'skill', skill: 'asker', input: { url: '$.input.url' } },
              use: {
                kind: 'function',
                function: 'echo',
                input: { status: '$.nodes.ask.output.status', body: '$.nodes.ask.output.body' },
              },
            },
            output: { status: '$.nodes.use.output.status', body: '$.nodes.use.output.body' },
          },
        ],
        skills: [
          {
            skill: 'asker',
            capability: 'http.request',
            input: {},
            candidates: [{ provider: 'web', model: 'request' }],
          },
        ],
        providers: {
          web: {
            vendor: 'http-request',
            key: 'none',
            base_url: 'https://unused.invalid',
            models: { request: { capability: ['http.request'], implementation: 'http-request', model: 'none' } },
          },
        },
      }),
      providers: new Map([['web', openProvider('http-request', clock, fetch, 'https://unused.invalid')]]),
    });
    const id = await world.submit({ input: { url: 'https://shop.example/stock' } });
    expect((await world.settle(id)).output).toEqual({ status: 200, body: { stock: 3 } });
    const gone = await world.submit({ input: { url: 'https://shop.example/gone' } });
    expect((await world.settle(gone)).output).toMatchObject({ status: 404 });
    expect(await world.store.charges({ executionId: id })).toEqual([]);
    expect(seen).toEqual(['GET https://shop.example/stock', 'GET https://shop.example/gone']);
  });
});

describe('seed 004: knowledge.search', () => {
  it('seed 004: knowledge.search finds Chinese in the team’s own snippets, words of two characters too', async () => {
    const world = await createWorld({
      functions: Object.fromEntries(functions),
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: {},
            nodes: {
              find: { kind: 'function', function: 'knowledge.search', input: { query: '$.input.q', limit: 1 } },
            },
            output: { text: '$.nodes.find.output.text' },
          },
        ],
      }),
    });
    const find = async (q: string): Promise<unknown> =>
      (await world.settle(await world.submit({ input: { q } }))).output?.['text'];
    expect(await find('真丝')).toBe('[1] 真丝（面料.md）\n桑蚕丝，可机洗。');
    expect(await find('浮色')).toContain('知识表 rec1');
    expect(await find('潜水艇')).toBe('');
  });
});

describe('seed 004: traffic.split', () => {
  /** The nodes that the authoring guide shows, with a function in the place of each skill. */
  function shownNodes(): Record<string, object> {
    const block = /^```yaml\n( {2}split:\n[\s\S]*?)^```$/m.exec(authoring)?.[1] ?? '';
    const nodes = parse(block) as Record<string, Record<string, unknown>>;
    const writing = (branch: string, after: unknown): object => ({
      kind: 'function',
      function: 'echo',
      after,
      input: { title: branch, points: ['one'] },
    });
    return {
      ...nodes,
      write_new: writing('trial', nodes['write_new']?.['after']),
      write: writing('usual', nodes['write']?.['after']),
    };
  }

  it('seed 004: traffic.split sends its share of the rows another way, stable by row, through the ports of a condition', async () => {
    const world = await createWorld({
      functions: { ...Object.fromEntries(functions), echo },
      definitions: define({
        workflows: [
          {
            workflow: 'w',
            input: { type: 'object', required: ['row'], properties: { row: { type: 'string' } } },
            nodes: shownNodes(),
            output: { text: '$.nodes.format.output.text' },
          },
        ],
      }),
    });
    const took = async (row: string, generation = 1): Promise<string> => {
      const id = await world.submit({ input: { row }, sourceRef: `row:${row}`, generation });
      const done = await world.settle(id);
      const text = done.output?.['text'];
      return typeof text === 'string' ? (text.split('\n')[0] ?? '') : done.status;
    };
    const rows = Array.from({ length: 60 }, (_, index) => `rec${index}`);
    const first = [];
    for (const row of rows) first.push(await took(row));
    const trial = first.filter((text) => text.includes('trial')).length;
    expect(trial).toBeGreaterThan(4);
    expect(trial).toBeLessThan(21);
    expect(first.filter((text) => text.includes('usual'))).toHaveLength(60 - trial);
    // 打回 asks for everything anew, and the row keeps its branch.
    for (const [at, row] of rows.slice(0, 20).entries()) expect(await took(row, 2)).toBe(first[at]);
  });
});
