import { providerSchema, skillSchema, workflowSchema } from '../../src/contract/index.ts';
import { emptyDefinitions, ok } from '../lib/world.mjs';

/** One film a row, at a vendor whose tasks take evenly between `shortestMs` and `longestMs`. */
export function filmDefinitions({ shortestMs, longestMs }) {
  const text = { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] };
  const definitions = emptyDefinitions([
    workflowSchema.parse({
      workflow: 'film',
      input: text,
      nodes: {
        shoot: { kind: 'skill', skill: 'film', input: { prompt: '$.input.prompt', durationS: 5, audio: false } },
      },
      output: { videos: '$.nodes.shoot.output.videos' },
    }),
  ]);
  definitions.skills.set(
    'film',
    skillSchema.parse({
      skill: 'film',
      capability: 'video.generate',
      input: { type: 'object' },
      candidates: [{ provider: 'bench', model: 'film' }],
    }),
  );
  definitions.providers.set(
    'bench',
    providerSchema.parse({
      vendor: 'bench',
      key: 'none',
      base_url: 'http://127.0.0.1',
      concurrency: 1_000_000,
      models: {
        film: {
          capability: ['video.generate'],
          implementation: 'bench.film',
          model: 'film',
          typical: `${Math.round((shortestMs + longestMs) / 2000)}s`,
          price: { currency: 'CNY', dated: '2026-11-30', items: [{ unit: 'calls', amount: '1' }] },
        },
      },
    }),
  );
  return definitions;
}

/** The vendor in this process: no network, so that what is measured is ours. `books` holds what it saw. */
export function createVendor({ shortestMs, longestMs, answerMs }) {
  const books = {
    submits: 0,
    polls: 0,
    toldAgain: 0,
    delaysMs: [],
    lengthsMs: [],
    polledTasks: new Set(),
    doneTasks: new Set(),
  };
  const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const adapter = {
    implementation: 'bench.film',
    version: 1,
    capabilities: ['video.generate'],
    prepare: async (call) =>
      ok({
        implementation: 'bench.film',
        version: 1,
        key: call.key,
        model: 'film',
        capability: call.capability,
        body: call.input,
      }),
    submit: async () => {
      books.submits += 1;
      const task = `task-${books.submits}`;
      const lengthMs = shortestMs + Math.random() * (longestMs - shortestMs);
      await rest(answerMs);
      return { kind: 'accepted', handle: { task, endsAt: Date.now() + lengthMs, lengthMs } };
    },
    poll: async (handle) => {
      books.polls += 1;
      books.polledTasks.add(handle.task);
      await rest(answerMs);
      const lateMs = Date.now() - handle.endsAt;
      if (lateMs < 0) return { kind: 'running', statusWord: 'running' };
      // Told again after its first answer: the engine asked once more than it had to.
      if (books.doneTasks.has(handle.task)) books.toldAgain += 1;
      else {
        books.doneTasks.add(handle.task);
        books.delaysMs.push(lateMs);
        books.lengthsMs.push(handle.lengthMs);
      }
      const video = { kind: 'remote', url: `https://vendor.example/${handle.task}.mp4`, media: 'video' };
      return { kind: 'succeeded', output: { videos: [video] }, cost: { usage: { calls: 1 } } };
    },
  };
  return { books, provider: { account: 'bench', adapters: [adapter] } };
}

/** Files are taken as they are: media has a benchmark of its own. */
export const collector = {
  collect: async (remote) =>
    ok({
      kind: 'artifact',
      hash: Buffer.from(remote.url).toString('hex').padEnd(64, '0').slice(-64),
      sizeBytes: 1,
      mime: 'video/mp4',
      name: 'film.mp4',
    }),
};
