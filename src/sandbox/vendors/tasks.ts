import { type Json, money } from '../../kernel/index.ts';
import { keepBlob } from '../blobs.ts';
import type { BillLine } from '../books.ts';
import { drawLatencyMs } from '../latency.ts';
import type { Scene } from '../painter/painter.ts';
import { seedOf } from '../painter/seed.ts';
import type { FileState, TaskState } from '../state.ts';
import { newToken, type World } from '../world.ts';
import { readOwnPicture } from './files-api.ts';
import type { TaskFate } from './fate.ts';

/**
 * Paid tasks of every vendor. A task runs from its acceptance to `dueAtMs` and then has its verdict; nothing ticks: each
 * look computes the state from the clock, so that the bill falls due whether anyone asks or not. The result is painted at
 * the first look after a success.
 */
interface TaskOrder {
  readonly vendor: string;
  readonly dialect: string;
  readonly taskId: string;
  readonly model: string;
  readonly media: 'image' | 'video';
  readonly clientId?: string;
  readonly request: Json;
  readonly prompt: string;
  readonly imageUrls: readonly string[];
  readonly count: number;
  readonly ratio?: string;
  readonly durationS?: number;
  readonly cost: readonly { readonly unit: string; readonly amountMicros: number }[];
}

export type TaskVerdict = 'running' | 'succeeded' | 'failed' | 'canceled';

/** What a status check shows. */
export interface TaskView {
  readonly verdict: TaskVerdict;
  /** The vendor does not know the task yet, or any more. */
  readonly hidden: 'not-yet' | 'forgotten' | undefined;
  readonly strangeWord: string | undefined;
  readonly urls: readonly string[];
  readonly cost: TaskState['cost'] | undefined;
  readonly failCode: string;
  readonly failMessage: string;
  readonly progressPct: number;
  readonly endedAtMs: number;
}

export interface TaskDesk {
  accept(order: TaskOrder, fate: TaskFate): Promise<TaskState>;
  find(vendor: string, id: string): TaskState | undefined;
  /** One status check; it counts as one for fates that change with checks. */
  look(task: TaskState): Promise<TaskView>;
  cancel(task: TaskState): boolean;
}

const dayMs = 86_400_000;

export function verdictOf(task: TaskState, nowMs: number): TaskVerdict {
  if (task.canceledAtMs !== undefined) return 'canceled';
  if (nowMs < task.dueAtMs) return 'running';
  return task.fate.outcome === 'fail' ? 'failed' : 'succeeded';
}

/** The lines that a task has put on the bill by now. */
export function taskBill(task: TaskState, nowMs: number): BillLine[] {
  const verdict = verdictOf(task, nowMs);
  const billed = verdict === 'succeeded' || (verdict === 'failed' && task.fate.billFailure === true);
  const atMs = task.dueAtMs + (task.fate.billDelayMs ?? 0);
  if (!billed || nowMs < atMs) return [];
  return task.cost.map((line) => ({
    vendor: task.vendor,
    taskId: task.taskId,
    ...(task.clientId === undefined ? {} : { clientId: task.clientId }),
    model: task.model,
    unit: line.unit,
    amountMicros: money(line.unit, line.amountMicros).micros,
    atMs,
  }));
}

export function createTaskDesk(world: World): TaskDesk {
  const painting = new Map<string, Promise<void>>();
  return {
    accept: (order, fate) => accept(world, order, fate),
    find: (vendor, id) => {
      const direct = world.state.tasks[id];
      if (direct?.vendor === vendor) return direct;
      return Object.values(world.state.tasks).findLast((task) => task.vendor === vendor && task.clientId === id);
    },
    look: async (task) => {
      const nowMs = world.clock.nowMs();
      if (verdictOf(task, nowMs) === 'succeeded' && task.files === undefined) {
        const job = painting.get(task.taskId) ?? paintResults(world, task);
        painting.set(task.taskId, job);
        await job;
        painting.delete(task.taskId);
      }
      return view(world, task);
    },
    cancel: (task) => {
      if (verdictOf(task, world.clock.nowMs()) !== 'running') return false;
      task.canceledAtMs = world.clock.nowMs();
      return true;
    },
  };
}

async function accept(world: World, order: TaskOrder, fate: TaskFate): Promise<TaskState> {
  const { imageUrls, cost, ...rest } = order;
  const pictures = await Promise.all(imageUrls.map((url) => readOwnPicture(world, url)));
  const hashes = await Promise.all(
    pictures.flatMap((bytes) => (bytes === undefined ? [] : keepBlob(world.blobs, bytes))),
  );
  const unread: TaskFate =
    hashes.length === imageUrls.length
      ? {}
      : { outcome: 'fail', failCode: '422', failMessage: 'Failed to fetch the image from the given url' };
  const acceptedAtMs = world.clock.nowMs();
  const span = world.controls.latencies[order.media === 'video' ? 'videoTaskMs' : 'imageTaskMs'];
  const durationMs = fate.durationMs ?? drawLatencyMs(span, world.random);
  const task: TaskState = {
    ...rest,
    inputs: hashes,
    acceptedAtMs,
    dueAtMs: acceptedAtMs + durationMs,
    fate: { ...fate, ...unread },
    cost: [...cost],
    checks: 0,
    successShown: 0,
  };
  world.state.tasks[task.taskId] = task;
  return task;
}

function view(world: World, task: TaskState): TaskView {
  const nowMs = world.clock.nowMs();
  const { fate } = task;
  task.checks += 1;
  let verdict = verdictOf(task, nowMs);
  let urls: readonly string[] = [];
  if (verdict === 'succeeded') {
    task.successShown += 1;
    const flips = fate.failsAfterSuccess !== undefined && task.successShown > fate.failsAfterSuccess.afterChecks;
    if (flips) verdict = 'failed';
    const bare = fate.withoutUrl !== undefined && task.successShown <= (fate.withoutUrl.firstChecks ?? Infinity);
    if (!flips && !bare) urls = (task.files ?? []).map((id) => fileUrl(world, id));
  }
  const ageMs = nowMs - task.acceptedAtMs;
  const billed = taskBill(task, nowMs).length > 0 && fate.hidesCost !== true;
  return {
    verdict,
    hidden: hiddenAs(task, nowMs),
    strangeWord:
      fate.strangeState !== undefined && ageMs < fate.strangeState.forMs ? fate.strangeState.word : undefined,
    urls,
    cost: billed ? task.cost : undefined,
    failCode: fate.failCode ?? '500',
    failMessage: fate.failMessage ?? 'Internal Error, Please try again later.',
    progressPct: Math.min(99, Math.round((ageMs / Math.max(1, task.dueAtMs - task.acceptedAtMs)) * 100)),
    endedAtMs: task.canceledAtMs ?? task.dueAtMs,
  };
}

function hiddenAs(task: TaskState, nowMs: number): TaskView['hidden'] {
  if (nowMs - task.acceptedAtMs < (task.fate.invisibleMs ?? 0)) return 'not-yet';
  if (nowMs - task.dueAtMs > (task.fate.recordLifeMs ?? 14 * dayMs)) return 'forgotten';
  return undefined;
}

export function fileUrl(world: World, fileId: string): string {
  const file = world.state.files[fileId];
  return `${world.baseUrl()}/files/${fileId}/${file?.name ?? 'result'}`;
}

async function paintResults(world: World, task: TaskState): Promise<void> {
  const inputs = (await Promise.all(task.inputs.map((hash) => world.blobs.read(hash)))).filter(
    (bytes) => bytes !== undefined,
  );
  const files: string[] = [];
  for (let index = 0; index < task.count; index += 1) files.push(await paintOne(world, task, { inputs, index }));
  task.files = files;
}

async function paintOne(
  world: World,
  task: TaskState,
  order: { inputs: readonly Uint8Array[]; index: number },
): Promise<string> {
  const size = sizeOf(task);
  const seed = seedOf(`${task.taskId}/${order.index}`);
  const bytes =
    task.media === 'video'
      ? await world.painter.film({ inputs: order.inputs, ...size, seconds: Math.min(task.durationS ?? 5, 4), seed })
      : await world.painter.paint({ scene: sceneOf(task), inputs: order.inputs, ...size, seed, format: 'png' });
  const extension = task.media === 'video' ? 'mp4' : 'png';
  const file: FileState = {
    fileId: newToken(world, '', 20),
    hash: await keepBlob(world.blobs, bytes),
    mime: task.media === 'video' ? 'video/mp4' : 'image/png',
    name: `${task.taskId.slice(-8)}-${order.index + 1}.${extension}`,
    expiresAtMs: task.dueAtMs + (task.fate.linkLifeMs ?? dayMs),
    ...(task.fate.media === undefined ? {} : { defect: task.fate.media }),
    ...(task.fate.padToBytes === undefined ? {} : { padToBytes: task.fate.padToBytes }),
  };
  world.state.files[file.fileId] = file;
  return file.fileId;
}

const longSidePx = 768;

/** Even sides in the wanted ratio; small, since nobody pays for pixels here. */
function sizeOf(task: TaskState): { widthPx: number; heightPx: number } {
  const match = /^(\d+):(\d+)$/.exec(task.ratio ?? '');
  const [across, down] = match === null ? [3, 4] : [Number(match[1]), Number(match[2])];
  const long = task.media === 'video' ? 640 : longSidePx;
  const scale = long / Math.max(across, down);
  const even = (value: number): number => Math.max(64, Math.round(value / 2) * 2);
  return { widthPx: even(across * scale), heightPx: even(down * scale) };
}

const sceneWords: readonly (readonly [Scene, RegExp])[] = [
  ['shot', /film still|single (?:frame|shot|panel)|one shot/i],
  ['grid', /storyboard|contact sheet|3\s*[x×]\s*3|nine[- ]panel|grid|分镜|九宫格/i],
  ['element', /artwork|pattern|element|extract|flat lay|print only|isolated|元素|图案|印花/i],
  ['wear', /model|wearing|try[- ]?on|on[- ]body|outfit|上身|模特|穿着/i],
];

/** What the prompt asks for, guessed from the first telling word. */
function sceneOf(task: { readonly prompt: string; readonly inputs: readonly string[] }): Scene {
  const usual: Scene = task.inputs.length === 0 ? 'scene' : 'retouch';
  const found = sceneWords
    .map(([scene, words]) => ({ scene, at: task.prompt.search(words) }))
    .filter(({ at }) => at >= 0);
  return found.toSorted((left, right) => left.at - right.at)[0]?.scene ?? usual;
}
