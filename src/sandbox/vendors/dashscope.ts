import { z } from 'zod';
import { type Json, type JsonObject, microsPerUnit } from '../../kernel/index.ts';
import { addEndpoint, type Call, jsonResponse } from '../endpoint.ts';
import type { TaskState } from '../state.ts';
import { newToken, type World } from '../world.ts';
import { hasKey } from './shared.ts';
import { type TaskDesk, type TaskView, verdictOf } from './tasks.ts';

const services = [
  { path: 'video-generation/video-synthesis', media: 'video' },
  { path: 'text2image/image-synthesis', media: 'image' },
  { path: 'image2image/image-synthesis', media: 'image' },
] as const;

const submitSchema = z.object({
  model: z.string().min(1),
  input: z.record(z.string(), z.json()),
  parameters: z.record(z.string(), z.json()).optional(),
});

/** Records are gone after a day: UNKNOWN then, with HTTP 200. */
const recordLifeMs = 24 * 3_600_000;
const chinaOffsetMs = 8 * 3_600_000;

function refusal(world: World, status: number, code: string, message: string): Response {
  return jsonResponse({ code, message, request_id: newToken(world, '', 32) }, status);
}

/** Alibaba Bailian's asynchronous services: without the async header there is no service. */
export function addDashscopeApi(world: World, desk: TaskDesk): void {
  for (const { path, media } of services) {
    addEndpoint(world, {
      name: `dashscope.${media}.create`,
      method: 'POST',
      path: `/dashscope/api/v1/services/aigc/${path}`,
      latency: 'vendorMs',
      handle: (call) => submit(world, desk, { call, media }),
    });
  }
  const guarded = (call: Call, handle: () => Promise<Response> | Response): Promise<Response> | Response =>
    hasKey(world, 'dashscope', call) ? handle() : refusal(world, 401, 'InvalidApiKey', 'Invalid API-key provided.');
  addEndpoint(world, {
    name: 'dashscope.tasks.list',
    method: 'GET',
    path: '/dashscope/api/v1/tasks/',
    latency: 'vendorMs',
    handle: (call) => guarded(call, () => list(world, call)),
  });
  addEndpoint(world, {
    name: 'dashscope.tasks.get',
    method: 'GET',
    path: '/dashscope/api/v1/tasks/:id',
    latency: 'vendorMs',
    handle: (call) => guarded(call, () => get(world, desk, call)),
  });
  addEndpoint(world, {
    name: 'dashscope.tasks.cancel',
    method: 'POST',
    path: '/dashscope/api/v1/tasks/:id/cancel',
    latency: 'vendorMs',
    handle: (call) => guarded(call, () => cancel(world, desk, call)),
  });
}

function picturesOf(input: Readonly<Record<string, Json>>): string[] {
  const named = ['img_url', 'first_frame_url', 'last_frame_url', 'base_image_url', 'ref_image_url', 'image_url'];
  const single = named.flatMap((name) => input[name] ?? []);
  const many = input['images'] ?? input['ref_images_url'];
  const listed: readonly Json[] = Array.isArray(many) ? many : [];
  return [...single, ...listed].filter((item): item is string => typeof item === 'string');
}

async function submit(
  world: World,
  desk: TaskDesk,
  { call, media }: { call: Call; media: 'image' | 'video' },
): Promise<Response> {
  if (!hasKey(world, 'dashscope', call)) return refusal(world, 401, 'InvalidApiKey', 'Invalid API-key provided.');
  if (call.request.headers.get('x-dashscope-async') !== 'enable') {
    return refusal(world, 403, 'AccessDenied', 'current user api does not support synchronous calls.');
  }
  const parsed = submitSchema.safeParse(call.json());
  if (!parsed.success) return refusal(world, 400, 'InvalidParameter', parsed.error.issues[0]?.message ?? 'bad body');
  const { model, input, parameters = {} } = parsed.data;
  const prompt = typeof input['prompt'] === 'string' ? input['prompt'] : '';
  const count = media === 'image' ? Number(parameters['n'] ?? 1) : 1;
  const seconds = Number(parameters['duration'] ?? 5);
  const size = /^(\d+)\*(\d+)$/.exec(typeof parameters['size'] === 'string' ? parameters['size'] : '');
  const task = await desk.accept(
    {
      vendor: 'dashscope',
      dialect: media,
      taskId: newToken(world, '', 32).toLowerCase(),
      model,
      media,
      request: z.json().parse(parsed.data),
      prompt,
      imageUrls: picturesOf(input),
      count,
      ratio: size === null ? '9:16' : `${size[1]}:${size[2]}`,
      durationS: seconds,
      cost: [
        media === 'video'
          ? { unit: 'seconds', amountMicros: seconds * microsPerUnit }
          : { unit: 'images', amountMicros: count * microsPerUnit },
      ],
    },
    { recordLifeMs, ...call.fate() },
  );
  return jsonResponse({
    output: { task_id: task.taskId, task_status: 'PENDING' },
    request_id: newToken(world, '', 32),
  });
}

const words = { running: 'RUNNING', succeeded: 'SUCCEEDED', failed: 'FAILED', canceled: 'CANCELED' } as const;

function isPending(world: World, task: TaskState): boolean {
  const aged = (world.clock.nowMs() - task.acceptedAtMs) / Math.max(1, task.dueAtMs - task.acceptedAtMs);
  return verdictOf(task, world.clock.nowMs()) === 'running' && aged < 0.2;
}

async function get(world: World, desk: TaskDesk, call: Call): Promise<Response> {
  const id = call.params['id'] ?? '';
  const requestId = newToken(world, '', 32);
  const task = desk.find('dashscope', id);
  const look = task === undefined ? undefined : await desk.look(task);
  if (task === undefined || look === undefined || look.hidden !== undefined) {
    return jsonResponse({ request_id: requestId, output: { task_id: id, task_status: 'UNKNOWN' } });
  }
  const word = look.strangeWord ?? (isPending(world, task) ? 'PENDING' : words[look.verdict]);
  const output = { task_id: id, task_status: word, orig_prompt: task.prompt, ...results(task, look) };
  return jsonResponse({ request_id: requestId, output, ...usage(task, look) });
}

function results(task: TaskState, look: TaskView): JsonObject {
  if (look.verdict === 'failed') return { code: look.failCode, message: look.failMessage };
  if (look.verdict !== 'succeeded') return {};
  return task.media === 'video' ? { video_url: look.urls[0] ?? '' } : { results: look.urls.map((url) => ({ url })) };
}

function usage(task: TaskState, look: TaskView): JsonObject {
  if (look.cost === undefined) return {};
  const amount = (look.cost[0]?.amountMicros ?? 0) / microsPerUnit;
  return { usage: task.media === 'video' ? { video_duration: amount, video_count: 1 } : { image_count: amount } };
}

/** `YYYYMMDDhhmmss` in China's time. */
function readStamp(text: string | null): number {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text ?? '');
  if (match === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) - chinaOffsetMs;
}

function list(world: World, call: Call): Response {
  const query = call.url.searchParams;
  const fromMs = readStamp(query.get('start_time'));
  const toMs = readStamp(query.get('end_time'));
  if (!(toMs - fromMs <= recordLifeMs))
    return refusal(world, 400, 'InvalidParameter', 'the time span exceeds 24 hours');
  const nowMs = world.clock.nowMs();
  const model = query.get('model_name');
  const data = Object.values(world.state.tasks)
    .filter((task) => task.vendor === 'dashscope' && (model === null || task.model === model))
    .filter((task) => task.acceptedAtMs >= fromMs && task.acceptedAtMs <= toMs + 999)
    .filter((task) => nowMs - task.acceptedAtMs >= (task.fate.invisibleMs ?? 0))
    .map((task) => ({
      task_id: task.taskId,
      model_name: task.model,
      status: words[verdictOf(task, nowMs)],
      gmt_create: task.acceptedAtMs,
    }));
  return jsonResponse({ request_id: newToken(world, '', 32), total: data.length, page_no: 1, page_size: 100, data });
}

function cancel(world: World, desk: TaskDesk, call: Call): Response {
  const task = desk.find('dashscope', call.params['id'] ?? '');
  if (task === undefined || !isPending(world, task) || !desk.cancel(task)) {
    return refusal(
      world,
      400,
      'UnsupportedOperation',
      'Failed to cancel the task, please confirm if the task is PENDING.',
    );
  }
  return jsonResponse({ request_id: newToken(world, '', 32) });
}
