import { z } from 'zod';
import { type Json, type JsonObject, microsPerUnit } from '../../kernel/index.ts';
import { addEndpoint, type Call, jsonResponse } from '../endpoint.ts';
import type { TaskState } from '../state.ts';
import { newToken, type World } from '../world.ts';
import { hasKey } from './shared.ts';
import { type TaskDesk, type TaskView, verdictOf } from './tasks.ts';

const root = '/ark/api/v3';

const contentSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
]);
const videoSchema = z.looseObject({
  model: z.string().min(1),
  content: z.array(contentSchema).min(1),
  duration: z.coerce.number().optional(),
  ratio: z.string().optional(),
  safety_identifier: z.string().max(64).optional(),
});
const imageSchema = z.looseObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  image: z.union([z.string(), z.array(z.string())]).optional(),
  size: z.string().optional(),
  sequential_image_generation_options: z.looseObject({ max_images: z.int().min(1).max(15) }).optional(),
});

function refusal(status: number, code: string, message: string): Response {
  return jsonResponse({ error: { code, message, param: '', type: 'BadRequest' } }, status);
}

const badKey = (): Response => refusal(401, 'AuthenticationError', 'the API key in the request is missing or invalid');
const badBody = (error: z.ZodError): Response =>
  refusal(400, 'InvalidParameter', error.issues[0]?.message ?? 'bad body');

/** Volcengine Ark: films as tasks that a list shows by `safety_identifier`, pictures in the answer itself. */
export function addArkApi(world: World, desk: TaskDesk): void {
  const add = (
    name: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    handle: (call: Call) => Promise<Response> | Response,
  ): void => {
    addEndpoint(world, {
      name,
      method,
      path: root + path,
      latency: name === 'ark.images' ? 'imageTaskMs' : 'vendorMs',
      handle: (call) => (hasKey(world, 'ark', call) ? handle(call) : badKey()),
    });
  };
  add('ark.tasks.create', 'POST', '/contents/generations/tasks', (call) => createFilm(world, desk, call));
  add('ark.tasks.list', 'GET', '/contents/generations/tasks', (call) => listFilms(world, call));
  add('ark.tasks.get', 'GET', '/contents/generations/tasks/:id', (call) => getFilm(desk, call));
  add('ark.tasks.delete', 'DELETE', '/contents/generations/tasks/:id', (call) => cancelFilm(world, desk, call));
  add('ark.images', 'POST', '/images/generations', (call) => createPictures(world, desk, call));
}

/** Width × height × frames a second × seconds / 1024, for 720p at 24 frames. */
function filmTokens(seconds: number): number {
  return Math.round((720 * 1280 * 24 * seconds) / 1024);
}

async function createFilm(world: World, desk: TaskDesk, call: Call): Promise<Response> {
  const parsed = videoSchema.safeParse(call.json());
  if (!parsed.success) return badBody(parsed.error);
  const { model, content, duration = 5, ratio, safety_identifier: clientId } = parsed.data;
  const prompt = content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  const request: Json = z.json().parse(parsed.data);
  const task = await desk.accept(
    {
      vendor: 'ark',
      dialect: 'video',
      taskId: newToken(world, 'cgt-', 22),
      model,
      media: 'video',
      ...(clientId === undefined ? {} : { clientId }),
      request,
      prompt,
      imageUrls: content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : [])),
      count: 1,
      ratio: ratio ?? '9:16',
      durationS: duration,
      cost: [{ unit: 'videoTokens', amountMicros: filmTokens(duration) * microsPerUnit }],
    },
    call.fate(),
  );
  return jsonResponse({ id: task.taskId });
}

const words = { running: 'running', succeeded: 'succeeded', failed: 'failed', canceled: 'cancelled' } as const;

function filmJson(task: TaskState, look: TaskView): JsonObject {
  const queued = look.verdict === 'running' && look.progressPct < 20;
  return {
    id: task.taskId,
    model: task.model,
    status: look.strangeWord ?? (queued ? 'queued' : words[look.verdict]),
    created_at: Math.floor(task.acceptedAtMs / 1000),
    updated_at: Math.floor((look.verdict === 'running' ? task.acceptedAtMs : look.endedAtMs) / 1000),
    ...(task.clientId === undefined ? {} : { safety_identifier: task.clientId }),
    ...(look.verdict === 'succeeded' ? { content: { video_url: look.urls[0] ?? '' } } : {}),
    ...(look.cost === undefined
      ? {}
      : { usage: { completion_tokens: (look.cost[0]?.amountMicros ?? 0) / microsPerUnit } }),
    ...(look.verdict === 'failed' ? { error: { code: look.failCode, message: look.failMessage } } : {}),
  };
}

async function getFilm(desk: TaskDesk, call: Call): Promise<Response> {
  const task = desk.find('ark', call.params['id'] ?? '');
  const missing = refusal(404, 'ResourceNotFound', 'the specified task is not found');
  if (task === undefined) return missing;
  const look = await desk.look(task);
  return look.hidden === undefined ? jsonResponse(filmJson(task, look)) : missing;
}

/** The newest first; a list shows states but does not count as a check of any task. */
function listFilms(world: World, call: Call): Response {
  const query = call.url.searchParams;
  const nowMs = world.clock.nowMs();
  const model = query.get('filter.model');
  const ids = query.getAll('filter.task_ids');
  const tasks = Object.values(world.state.tasks).filter(
    (task) =>
      task.vendor === 'ark' &&
      task.dialect === 'video' &&
      nowMs - task.acceptedAtMs >= (task.fate.invisibleMs ?? 0) &&
      (model === null || task.model === model) &&
      (ids.length === 0 || ids.includes(task.taskId)),
  );
  const size = Math.min(500, Number(query.get('page_size') ?? '10'));
  const from = (Number(query.get('page_num') ?? '1') - 1) * size;
  const items = tasks
    .toReversed()
    .slice(from, from + size)
    .map((task) => ({
      id: task.taskId,
      model: task.model,
      status: words[verdictOf(task, nowMs)],
      ...(task.clientId === undefined ? {} : { safety_identifier: task.clientId }),
      created_at: Math.floor(task.acceptedAtMs / 1000),
      updated_at: Math.floor(task.acceptedAtMs / 1000),
    }));
  return jsonResponse({ total: tasks.length, items });
}

/** Only what still waits in the queue can be stopped. */
function cancelFilm(world: World, desk: TaskDesk, call: Call): Response {
  const task = desk.find('ark', call.params['id'] ?? '');
  if (task === undefined) return refusal(404, 'ResourceNotFound', 'the specified task is not found');
  const aged = (world.clock.nowMs() - task.acceptedAtMs) / Math.max(1, task.dueAtMs - task.acceptedAtMs);
  if (aged >= 0.2 || !desk.cancel(task)) return refusal(409, 'InvalidAction', 'the task is running');
  return jsonResponse({});
}

async function createPictures(world: World, desk: TaskDesk, call: Call): Promise<Response> {
  const parsed = imageSchema.safeParse(call.json());
  if (!parsed.success) return badBody(parsed.error);
  const { model, prompt, image, size, sequential_image_generation_options: group } = parsed.data;
  const request: Json = z.json().parse(parsed.data);
  const count = group?.max_images ?? 1;
  const pixels = /^(\d+)x(\d+)$/.exec(size ?? '');
  const task = await desk.accept(
    {
      vendor: 'ark',
      dialect: 'image',
      taskId: newToken(world, 'img-', 22),
      model,
      media: 'image',
      request,
      prompt,
      imageUrls: image === undefined ? [] : [image].flat(),
      count,
      ratio: pixels === null ? '3:4' : `${pixels[1]}:${pixels[2]}`,
      cost: [{ unit: 'images', amountMicros: count * microsPerUnit }],
    },
    { ...call.fate(), durationMs: 0 },
  );
  const look = await desk.look(task);
  if (look.verdict !== 'succeeded') return refusal(400, look.failCode, look.failMessage);
  return jsonResponse({
    model,
    created: Math.floor(world.clock.nowMs() / 1000),
    data: look.urls.map((url) => ({ url, size: size ?? '1536x2048' })),
    usage: { generated_images: count, output_tokens: count * 12_288, total_tokens: count * 12_288 },
  });
}
