import type {
  Adapter,
  CapabilityId,
  Failure,
  PollOutcome,
  Provider,
  ReportedCost,
} from '../../../src/contract/index.ts';
import { type Clock, type JsonObject, money, sleep } from '../../../src/kernel/index.ts';

/**
 * A vendor that does what a script says, and keeps books of its own: every task that it accepted, and what it charges
 * for it. Tests hold its books against ours.
 */
export interface ScriptedVendor {
  readonly provider: Provider;
  /** Every task ever accepted, in order. */
  readonly tasks: VendorTask[];
  /** Every request that arrived, by the purchase's key. */
  readonly arrivals: string[];
  readonly polls: { readonly taskId: string; readonly at: number }[];
  readonly cancels: string[];
  /** What it charges in all, in micro-CNY. */
  bill(): number;
  /** Replaces the script. */
  script: Script;
}

export interface VendorTask {
  readonly id: string;
  readonly key: string;
  readonly model: string;
  readonly body: JsonObject;
  readonly acceptedAt: number;
  readonly behaviour: Behaviour;
  state: 'running' | 'succeeded' | 'failed' | 'canceled';
}

export interface Behaviour {
  /**
   * `accept`: answers with a handle. `complete`: answers with the result at once. `refuse`: says no. `fail`: takes it and
   * fails within the submit. `lose`: accepts, and the answer is lost. `drop`: the connection breaks before it is read.
   * `hang`: accepts and never answers.
   */
  readonly submit: 'accept' | 'complete' | 'refuse' | 'fail' | 'lose' | 'drop' | 'hang';
  /** How long the submit takes. */
  readonly submitMs?: number;
  /** How long the answer is on its way, once the task was accepted. */
  readonly answerMs?: number;
  readonly failure?: Failure;
  readonly durationMs?: number;
  /** `never`: runs for ever. `weird`: a status word that nobody knows, then success. `forget`: not found any more. */
  readonly result?: 'succeed' | 'fail' | 'never' | 'weird' | 'expire' | 'forget';
  readonly output?: JsonObject;
  readonly costMicros?: number;
  /** It names the sum only so long after the task was accepted. */
  readonly tellsCostAfterMs?: number;
  /** Each check fails with this chance. */
  readonly checkFailRatio?: number;
}

export type Script = (call: {
  readonly key: string;
  readonly model: string;
  readonly body: JsonObject;
  readonly count: number;
}) => Behaviour;

export interface VendorOptions {
  readonly clock: Clock;
  readonly name?: string;
  readonly implementation?: string;
  readonly capabilities?: readonly CapabilityId[];
  readonly script?: Script;
  /** `by-looks`: it keeps no key of ours; a task is known again by its model and prompt. */
  readonly canFind?: boolean | 'by-looks';
  /** Whether a search for a lost task fails now. */
  readonly findFails?: () => boolean;
  readonly canCancel?: boolean;
  readonly random?: { next(): number };
  /** What `prepare` refuses. */
  readonly refusePrepare?: (input: JsonObject) => Failure | undefined;
}

const lostAnswer: Failure = {
  kind: 'network',
  code: 'ECONNRESET',
  message: 'the connection broke after sending',
};

export function createScriptedVendor(options: VendorOptions): ScriptedVendor {
  const { clock } = options;
  const name = options.name ?? 'acme';
  const byId = new Map<string, VendorTask>();
  const vendor: ScriptedVendor = {
    provider: { account: name, adapters: [] },
    tasks: [],
    arrivals: [],
    polls: [],
    cancels: [],
    bill: () => vendor.tasks.reduce((sum, task) => sum + costOf(task), 0),
    script: options.script ?? (() => ({ submit: 'accept', durationMs: 10_000 })),
  };
  const accept = (key: string, model: string, body: JsonObject, behaviour: Behaviour): VendorTask => {
    const state = behaviour.submit === 'complete' ? 'succeeded' : behaviour.submit === 'fail' ? 'failed' : 'running';
    const task: VendorTask = {
      id: `${name}-${vendor.tasks.length + 1}`,
      key,
      model,
      body,
      acceptedAt: clock.nowMs(),
      behaviour,
      state,
    };
    vendor.tasks.push(task);
    byId.set(task.id, task);
    return task;
  };
  const adapter: Adapter = {
    implementation: options.implementation ?? `${name}.tasks`,
    version: 1,
    capabilities: options.capabilities ?? ['text.generate', 'image.analyze', 'image.generate', 'video.generate'],
    prepare: (call) => {
      const refused = options.refusePrepare?.(call.input);
      if (refused !== undefined) return Promise.resolve({ ok: false, failure: refused });
      return Promise.resolve({
        ok: true,
        value: {
          implementation: adapter.implementation,
          version: 1,
          key: call.key,
          model: call.model.model,
          capability: call.capability,
          body: { ...call.input },
          ...(options.canFind === 'by-looks' ? { likeness: looksOf(call.model.model, call.input) } : {}),
        },
      });
    },
    submit: async (request, signal) => {
      vendor.arrivals.push(request.key);
      const count = vendor.arrivals.length;
      const behaviour = vendor.script({ key: request.key, model: request.model, body: request.body, count });
      if (behaviour.submitMs !== undefined) await sleep(clock, behaviour.submitMs, signal);
      if (behaviour.submit === 'drop') return { kind: 'unknown', failure: lostAnswer };
      if (behaviour.submit === 'refuse') return { kind: 'refused', failure: behaviour.failure ?? overload };
      const task = accept(request.key, request.model, request.body, behaviour);
      if (behaviour.answerMs !== undefined) await sleep(clock, behaviour.answerMs, signal);
      switch (behaviour.submit) {
        case 'accept':
          return { kind: 'accepted', handle: { taskId: task.id } };
        case 'complete':
          return { kind: 'completed', output: outputOf(task), cost: reported(task) };
        case 'fail':
          return { kind: 'failed', failure: behaviour.failure ?? broken, cost: reported(task) };
        case 'lose':
          return { kind: 'unknown', failure: lostAnswer };
        case 'hang':
          return await new Promise(() => undefined);
      }
    },
    poll: (handle) => {
      const task = byId.get(taskIdOf(handle));
      vendor.polls.push({ taskId: taskIdOf(handle), at: clock.nowMs() });
      if (task === undefined) return Promise.resolve({ kind: 'not-visible' });
      if ((task.behaviour.checkFailRatio ?? 0) > (options.random?.next() ?? 1)) {
        return Promise.resolve({
          kind: 'check-failed',
          failure: { kind: 'unavailable', code: '503', message: 'try later' },
        });
      }
      return Promise.resolve(withoutCost(task, look(task, clock.nowMs()), clock.nowMs()));
    },
    ...(options.canFind === undefined || options.canFind === false
      ? {}
      : {
          find: (request) => {
            const isLike = (each: VendorTask): boolean =>
              options.canFind === 'by-looks'
                ? looksOf(each.model, each.body) === looksOf(request.model, request.body)
                : each.key === request.key;
            const [task, second] = vendor.tasks.filter(isLike);
            if (second !== undefined || options.findFails?.() === true)
              return Promise.resolve({ kind: 'check-failed', failure: lostAnswer });
            return Promise.resolve(
              task === undefined ? { kind: 'not-found' } : { kind: 'found', handle: { taskId: task.id } },
            );
          },
        }),
    ...(options.canCancel === true
      ? {
          cancel: (handle) => {
            const id = taskIdOf(handle);
            vendor.cancels.push(id);
            const task = byId.get(id);
            if (task?.state !== 'running') return Promise.resolve({ kind: 'not-cancelable' });
            task.state = 'canceled';
            return Promise.resolve({ kind: 'canceled', cost: { amount: money('CNY', 0) } });
          },
        }
      : {}),
  };
  return Object.assign(vendor, { provider: { account: name, adapters: [adapter] } });
}

function looksOf(model: string, body: JsonObject): string {
  return JSON.stringify([model, body['prompt'] ?? null]);
}

function taskIdOf(handle: JsonObject): string {
  return typeof handle['taskId'] === 'string' ? handle['taskId'] : '';
}

const overload: Failure = { kind: 'overload', code: '503', message: 'busy' };
const broken: Failure = { kind: 'generation-failed', code: 'bad', message: 'generation failed' };

function look(task: VendorTask, nowMs: number): PollOutcome {
  if (task.state === 'canceled') return { kind: 'canceled', cost: { amount: money('CNY', 0) } };
  const { result = 'succeed', durationMs = 10_000, failure } = task.behaviour;
  if (task.state === 'succeeded') return { kind: 'succeeded', output: outputOf(task), cost: reported(task) };
  if (task.state === 'failed') return { kind: 'failed', failure: failure ?? broken, cost: reported(task) };
  const isDue = nowMs - task.acceptedAt >= durationMs;
  if (result === 'never') return { kind: 'running', statusWord: 'RUNNING' };
  if (!isDue)
    return result === 'weird'
      ? { kind: 'unrecognised', statusWord: 'PRE_HEATING' }
      : { kind: 'running', statusWord: 'RUNNING' };
  switch (result) {
    case 'fail':
      task.state = 'failed';
      return { kind: 'failed', failure: failure ?? broken, cost: reported(task) };
    case 'expire':
      return { kind: 'expired', failure: failure ?? { kind: 'expired', code: '410', message: 'gone' } };
    case 'forget':
      return { kind: 'not-visible' };
    default:
      task.state = 'succeeded';
      return { kind: 'succeeded', output: outputOf(task), cost: reported(task) };
  }
}

function withoutCost(task: VendorTask, outcome: PollOutcome, nowMs: number): PollOutcome {
  const isTold = nowMs - task.acceptedAt >= (task.behaviour.tellsCostAfterMs ?? 0);
  return isTold || !('cost' in outcome) ? outcome : { ...outcome, cost: {} };
}

function costOf(task: VendorTask): number {
  return task.state === 'succeeded' || (task.state === 'failed' && task.behaviour.costMicros !== undefined)
    ? (task.behaviour.costMicros ?? 100_000)
    : 0;
}

function reported(task: VendorTask): ReportedCost {
  return { amount: money('CNY', costOf(task)) };
}

/** Without a scripted output: a text that names the task, or a picture of its own. */
function outputOf(task: VendorTask): JsonObject {
  if (task.behaviour.output !== undefined) return task.behaviour.output;
  const isVideo = task.body['durationS'] !== undefined;
  const isText = task.model.startsWith('text');
  if (isText) return { text: `answer ${task.id}`, finish: 'stop' };
  const remote = { kind: 'remote', url: `https://files.example/${task.id}`, media: isVideo ? 'video' : 'image' };
  return isVideo ? { videos: [remote] } : { images: [remote] };
}
