import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  type Adapter,
  type Artifact,
  capability,
  type ModelSettings,
  type PollOutcome,
  providersFileSchema,
  remoteMediaSchema,
} from '../../src/contract/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  type JsonObject,
  Secret,
  silentLogger,
} from '../../src/kernel/index.ts';
import { createCollector, createMemorySpool } from '../../src/media/index.ts';
import { providerFactories } from '../../src/providers/index.ts';
import {
  createInProcessFetch,
  createPlainPainter,
  createSandbox,
  realisticLatencies,
} from '../../src/sandbox/index.ts';
import { drive } from './drive.ts';

const definitions = providersFileSchema.parse(
  parse(readFileSync(join(import.meta.dirname, '../../config/providers.yaml'), 'utf8')),
).providers;
const signal = new AbortController().signal;

/** The local outside world, entered through the same doors as the real one. */
function world() {
  const clock = createVirtualClock();
  const random = createSeededRandom(7);
  const sandbox = createSandbox({
    clock,
    random,
    baseUrl: 'http://127.0.0.1:7010',
    tables: [],
    painter: createPlainPainter(),
    latencies: realisticLatencies,
  });
  const fetch = createInProcessFetch(sandbox);
  const spool = createMemorySpool();
  const ids = createIdSource(clock, random);
  const base = 'http://127.0.0.1:7010';
  const paths: Record<string, string> = {
    kie: '/kie',
    toapis: '/toapis',
    ark: '/ark/api/v3',
    dashscope: '/dashscope',
    'llm-primary': '/llm/v1',
  };
  const provider = (id: string) =>
    providerFactories[definitions[id]!.vendor]!({
      account: {
        id,
        baseUrl: `${base}${paths[id] ?? ''}`,
        uploadBaseUrl: `${base}/kie-upload`,
        key: new Secret('any-key'),
        proxy: 'direct',
      },
      fetch,
      clock,
      ids,
      logger: silentLogger,
      media: spool,
      timeouts: { connectMs: 15_000, submitMs: 180_000, queryMs: 30_000, textMs: 180_000 },
    });
  const collector = createCollector({
    fetch,
    spool,
    clock,
    logger: silentLogger,
    settings: { attempts: 3, delayMs: 3_000, idleMs: 60_000, connectMs: 15_000, maxBytes: 1e9 },
  });
  return { clock, sandbox, spool, provider, collector };
}

type World = ReturnType<typeof world>;

function modelOf(account: string, name: string): ModelSettings {
  return { id: `${account}/${name}`, ...definitions[account]!.models[name]! };
}

async function pollToEnd(here: World, adapter: Adapter, handle: JsonObject): Promise<PollOutcome> {
  for (let step = 0; step < 300; step += 1) {
    const outcome = await drive(here.clock, adapter.poll!(handle, signal));
    if (!['running', 'not-visible'].includes(outcome.kind)) return outcome;
    await here.clock.advance(5_000);
  }
  throw new Error('no end');
}

async function picture(here: World): Promise<Artifact> {
  const bytes = await createPlainPainter().paint({
    scene: 'element',
    inputs: [],
    widthPx: 64,
    heightPx: 64,
    seed: 1,
    format: 'png',
  });
  const kept = await here.spool.keep(bytes, '产品图.png');
  if (!kept.ok) throw new Error(kept.failure.message);
  return kept.value;
}

const mediaModels = Object.entries(definitions)
  .filter(([, definition]) => ['kie', 'toapis', 'ark', 'dashscope'].includes(definition.vendor))
  .flatMap(([account, definition]) =>
    Object.entries(definition.models)
      .filter(([, model]) => model.implementation !== 'openai-chat')
      .map(([name]) => [account, name] as const),
  );

describe('every shipped model against the local outside world', () => {
  it.each(mediaModels)(
    '%s/%s: prepared, submitted once, polled, collected, billed by the vendor',
    async (account, name) => {
      const here = world();
      const provider = here.provider(account);
      const model = modelOf(account, name);
      const adapter = provider.adapters.find((each) => each.implementation === model.implementation)!;
      const id = model.capability[0]!;
      const takesPictures = model.fields?.['images'] !== undefined || model.fields?.['firstFrame'] !== undefined;
      const given = {
        prompt: 'a red coat on a model',
        avoid: 'text',
        ...(takesPictures ? { images: [await picture(here)] } : {}),
        ...(id === 'video.generate'
          ? { durationS: 8, audio: false, ratio: '9:16' }
          : { ratio: '9:16', resolution: '2k' }),
      };
      const input = capability(id).input.parse(given) as JsonObject;
      const prepared = await drive(here.clock, adapter.prepare({ key: 'key-1', capability: id, model, input }, signal));
      if (!prepared.ok) throw new Error(prepared.failure.message);
      const submitted = await drive(here.clock, adapter.submit(prepared.value, signal));
      const outcome = submitted.kind === 'accepted' ? await pollToEnd(here, adapter, submitted.handle) : submitted;
      if (outcome.kind !== 'succeeded' && outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
      expect(capability(id).output.safeParse(outcome.output).success).toBe(true);
      if (account === 'kie' || account === 'toapis') expect(outcome.cost.amount?.currency).toBe(`credit:${account}`);
      else expect(outcome.cost.usage).toMatchObject({ calls: 1 });
      const [first] = Object.values(outcome.output).flat();
      const collected = await drive(here.clock, here.collector.collect(remoteMediaSchema.parse(first), '结果', signal));
      expect(collected).toMatchObject({ ok: true });
      if (adapter.find !== undefined && submitted.kind === 'accepted') {
        expect(await drive(here.clock, adapter.find(prepared.value, signal))).toMatchObject({
          kind: 'found',
          handle: { taskId: submitted.handle['taskId'] },
        });
      }
      if (provider.balance === undefined) return;
      const balance = await drive(here.clock, provider.balance(signal));
      expect(balance.ok && balance.value.remaining.micros > 0).toBe(true);
    },
  );

  it.each([['chat'], ['vision']])('llm-primary/%s answers', async (name) => {
    const here = world();
    const model = modelOf('llm-primary', name);
    const [adapter] = here.provider('llm-primary').adapters;
    const id = model.capability[0]!;
    const input = {
      prompt: '描述',
      ...(name === 'vision' ? { images: [await picture(here)] } : {}),
    } as unknown as JsonObject;
    const prepared = await adapter!.prepare({ key: 'k', capability: id, model, input }, signal);
    if (!prepared.ok) throw new Error(prepared.failure.message);
    const outcome = await drive(here.clock, adapter!.submit(prepared.value, signal));
    if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
    expect(capability(id).output.safeParse(outcome.output).success).toBe(true);
  });

  it('finds at toapis what was accepted although the answer was lost', async () => {
    const here = world();
    here.sandbox.faults.add({ endpoint: 'toapis.images.create', action: { kind: 'drop-after' } });
    const adapter = here.provider('toapis').adapters[0]!;
    const input = { prompt: 'x' };
    const prepared = await adapter.prepare(
      { key: 'key-9', capability: 'image.generate', model: modelOf('toapis', 'gpt-image'), input },
      signal,
    );
    if (!prepared.ok) throw new Error(prepared.failure.message);
    expect(await drive(here.clock, adapter.submit(prepared.value, signal))).toMatchObject({ kind: 'unknown' });
    expect(await drive(here.clock, adapter.find!(prepared.value, signal))).toMatchObject({ kind: 'found' });
  });
});
