import sharp from 'sharp';
import type {
  Adapter,
  Artifact,
  CapabilityId,
  Failure,
  FailureKind,
  Provider,
  SubmitOutcome,
} from '../../src/contract/index.ts';
import { createEngine } from '../../src/engine/index.ts';
import type { ExecutionRecord, Mark } from '../../src/engine/ports/index.ts';
import { createFunctions, createSharpPictureWorker, type Knowledge } from '../../src/functions/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  isJsonObject,
  type JsonObject,
  noFailpoints,
  silentLogger,
} from '../../src/kernel/index.ts';
import { createMemorySpool, type Spool } from '../../src/media/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { config } from './shipped.ts';

/** One paid call as the scripted vendor sees it. */
export interface Call {
  readonly provider: string;
  readonly model: string;
  readonly capability: CapabilityId;
  readonly prompt: string;
  readonly system: string;
  readonly avoid: string;
  readonly images: readonly Artifact[];
  readonly input: JsonObject;
}

/** What the vendor does: a text, pictures or a film, or a failure of a kind. */
export type Reply =
  | string
  | { readonly pictures: readonly Artifact[] }
  | { readonly film: Artifact }
  | { readonly fails: FailureKind };

interface Run {
  readonly status: ExecutionRecord['status'];
  readonly output: JsonObject;
  readonly failure: Failure | undefined;
  readonly marks: readonly Mark[];
  readonly calls: readonly Call[];
  /** Calls to a model of this kind. */
  count(capability: CapabilityId): number;
}

export interface Studio {
  readonly spool: Spool;
  run(workflow: string | readonly string[], input: JsonObject, options?: RunOptions): Promise<Run>;
  picture(name: string, svg?: string): Promise<Artifact>;
  bytesOf(value: unknown): Promise<Uint8Array>;
}

interface RunOptions {
  readonly planner?: string;
  readonly generation?: number;
  readonly key?: string;
  readonly source?: string;
}

const ring = '<circle cx="512" cy="512" r="360" fill="#b03030"/><circle cx="512" cy="512" r="160" fill="#ffffff"/>';

/** The engine with the shipped configuration, its functions and pictures real, every vendor played by `reply`. */
export function openStudio(reply: (call: Call) => Reply | Promise<Reply>, knowledge?: Knowledge): Studio {
  const clock = createVirtualClock();
  const random = createSeededRandom(11);
  const spool = createMemorySpool();
  const store = createSqliteStore({ path: ':memory:', clock, logger: silentLogger });
  const calls: Call[] = [];
  const accounts = [...config.definitions.providers].map(([id, definition]): [string, Provider] => {
    const names = new Set(Object.values(definition.models).map((model) => model.implementation));
    return [id, { account: id, adapters: [...names].map((name) => scriptedAdapter(id, name, reply, calls)) }];
  });
  const engine = createEngine({
    store,
    clock,
    random,
    ids: createIdSource(clock, random),
    failpoints: noFailpoints,
    logger: silentLogger,
    settings: config.settings,
    definitions: () => config.definitions,
    providers: new Map(accounts),
    functions: createFunctions({
      redLines: config.redLines,
      pictures: createSharpPictureWorker(),
      media: spool,
      ...(knowledge === undefined ? {} : { knowledge }),
    }),
    collector: { collect: () => Promise.reject(new Error('nothing lies at an address here')) },
    owner: 'test',
    freeBytes: () => Promise.resolve(10 ** 12),
    sideFile: { append: () => undefined, readAll: () => [], clear: () => undefined },
  });
  let serial = 0;
  const run: Studio['run'] = async (workflow, input, options = {}) => {
    await engine.start();
    const from = calls.length;
    serial += 1;
    const submitted = await engine.submit({
      workflow,
      ...(options.planner === undefined ? {} : { planner: options.planner }),
      input,
      sourceRef: options.source ?? 'test:row',
      labels: { agent: 'test' },
      generation: options.generation ?? 1,
      idempotencyKey: options.key ?? `run-${serial}`,
    });
    if (!submitted.ok)
      return { status: 'failed', output: {}, failure: submitted.failure, marks: [], calls: [], count: () => 0 };
    for (let turn = 0; turn < 4_000; turn += 1) {
      const record = await store.execution(submitted.value.executionId);
      if (record !== undefined && record.endedAt !== undefined) return result(record, calls.slice(from));
      await clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    throw new Error('the execution did not end');
  };
  return {
    spool,
    run,
    picture: async (name, svg = ring) => {
      const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="1024" height="1024"><rect width="1024" height="1024" fill="#ffffff"/>${svg}<!--${name}--></svg>`;
      const bytes = await sharp(Buffer.from(drawn)).png().toBuffer();
      const kept = await spool.keep(withNote(bytes, name), `${name}.png`);
      if (!kept.ok) throw new Error(kept.failure.message);
      return kept.value;
    },
    bytesOf: async (value) => {
      const read = await spool.read(value as Artifact, new AbortController().signal);
      if (!read.ok) throw new Error(read.failure.message);
      return read.value;
    },
  };
}

/** Bytes behind the end of a PNG are ignored by readers: pictures that look alike stay different files. */
function withNote(bytes: Uint8Array, note: string): Uint8Array {
  return Buffer.concat([bytes, Buffer.from(note)]);
}

function result(record: ExecutionRecord, calls: readonly Call[]): Run {
  return {
    status: record.status,
    output: record.output ?? {},
    failure: record.failure,
    marks: record.marks,
    calls,
    count: (capability) => calls.filter((call) => call.capability === capability).length,
  };
}

function scriptedAdapter(
  provider: string,
  implementation: string,
  reply: (call: Call) => Reply | Promise<Reply>,
  calls: Call[],
): Adapter {
  return {
    implementation,
    version: 1,
    capabilities: ['text.generate', 'image.analyze', 'image.generate', 'video.generate'],
    prepare: ({ key, capability, model, input }) =>
      Promise.resolve({
        ok: true,
        value: { implementation, version: 1, key, model: model.id, capability, body: { capability, input } },
      }),
    submit: async (request) => {
      const input = isJsonObject(request.body['input']) ? request.body['input'] : {};
      const text = (name: string): string => (typeof input[name] === 'string' ? input[name] : '');
      const call: Call = {
        provider,
        model: request.model,
        capability: request.capability,
        prompt: text('prompt'),
        system: text('system'),
        avoid: text('avoid'),
        images: (input['images'] ?? []) as unknown as readonly Artifact[],
        input,
      };
      calls.push(call);
      return outcomeOf(await reply(call), provider);
    },
  };
}

function outcomeOf(reply: Reply, provider: string): SubmitOutcome {
  if (typeof reply === 'string') return { kind: 'completed', output: { text: reply, finish: 'stop' }, cost: {} };
  if ('pictures' in reply)
    return { kind: 'completed', output: { images: reply.pictures.map((each) => ({ ...each })) }, cost: {} };
  if ('film' in reply) return { kind: 'completed', output: { videos: [{ ...reply.film }] }, cost: {} };
  return {
    kind: 'refused',
    failure: { kind: reply.fails, code: 'scripted', message: `scripted ${reply.fails}`, provider },
  };
}
