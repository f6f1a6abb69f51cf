import { z } from 'zod';
import type { Json } from '../../kernel/index.ts';
import { addEndpoint, type Call, jsonResponse } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';
import { refuseInput } from './kie-models.ts';
import { kieCostMicros } from './prices.ts';
import { hasKey, remainingMicros, takeFunds, unitsOf } from './shared.ts';
import type { TaskDesk, TaskView } from './tasks.ts';

/** kie's errors come as HTTP 200 with the code in the body. */
export function kieRefusal(code: number, message: string): Response {
  return jsonResponse({ code, msg: message, data: null });
}

export function kieSuccess(data: Json): Response {
  return jsonResponse({ code: 200, msg: 'success', data });
}

const createSchema = z.object({
  model: z.string().min(1),
  input: z.record(z.string(), z.json()),
  callBackUrl: z.string().optional(),
});

const imageFields = [
  'image_urls',
  'image_input',
  'input_urls',
  'image_url',
  'reference_image_urls',
  'reference_image',
  'first_frame_url',
  'first_frame',
  'last_frame_url',
  'end_image_url',
  'tail_image_url',
];

/** Every picture address in an input, whatever the model calls its field. */
function picturesOf(input: Readonly<Record<string, Json>>): string[] {
  return imageFields.flatMap((name) => {
    const value = input[name];
    const list: readonly Json[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return list.filter((item): item is string => typeof item === 'string' && item !== '');
  });
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const videoModels = /video|kling|seedance|v1-|wan\/|hailuo|minimax|veo|sora|pixverse|grok-imagine\/.*video/;
const knownModels =
  /^(google\/nano-banana|nano-banana|bytedance\/|seedream\/|gpt-image|flux-2\/|qwen|kling|wan\/|hailuo|minimax|grok-imagine|pixverse|z-image|ideogram|imagen|topaz|recraft)/;

/** `allow`: the account's 20 new requests in 10 s, shared by all dialects. */
export function addKieApi(world: World, desk: TaskDesk, allow: () => boolean): void {
  addEndpoint(world, {
    name: 'kie.createTask',
    method: 'POST',
    path: '/kie/api/v1/jobs/createTask',
    latency: 'vendorMs',
    handle: async (call) => {
      if (!hasKey(world, 'kie', call)) return kieRefusal(401, 'You do not have access permissions');
      if (!allow()) return kieRefusal(429, 'Too many requests, please try again later');
      return createTask(world, desk, call);
    },
  });
  addEndpoint(world, {
    name: 'kie.recordInfo',
    method: 'GET',
    path: '/kie/api/v1/jobs/recordInfo',
    latency: 'vendorMs',
    handle: async (call) => {
      if (!hasKey(world, 'kie', call)) return kieRefusal(401, 'You do not have access permissions');
      return recordInfo(desk, call);
    },
  });
  addEndpoint(world, {
    name: 'kie.credit',
    method: 'GET',
    path: '/kie/api/v1/chat/credit',
    latency: 'vendorMs',
    handle: (call) =>
      hasKey(world, 'kie', call)
        ? kieSuccess(unitsOf(remainingMicros(world, 'kie')))
        : kieRefusal(401, 'You do not have access permissions'),
  });
}

async function createTask(world: World, desk: TaskDesk, call: Call): Promise<Response> {
  const parsed = createSchema.safeParse(call.json());
  if (!parsed.success) return kieRefusal(422, 'The request body is invalid');
  const { model, input } = parsed.data;
  if (!knownModels.test(model)) return kieRefusal(422, `The model ${model} is not supported`);
  const prompt = textOf(input['prompt']) ?? '';
  const refused = prompt === '' ? 'prompt is required' : refuseInput(model, input);
  if (refused !== undefined) return kieRefusal(422, refused);
  const isVideo = videoModels.test(model);
  const seconds = Number(input['duration'] ?? (isVideo ? 5 : 0));
  const count = Math.max(1, Number(input['max_images'] ?? input['n'] ?? 1));
  const amountMicros = kieCostMicros(model, {
    count,
    seconds,
    resolution: textOf(input['resolution']) ?? '',
    audio: input['sound'] === true || input['generate_audio'] === true,
    mode: textOf(input['mode']) ?? '',
  });
  if (!takeFunds(world, 'kie', amountMicros)) return kieRefusal(402, 'Credits insufficient');
  const task = await desk.accept(
    {
      vendor: 'kie',
      dialect: 'market',
      taskId: newToken(world, '', 32).toLowerCase(),
      model,
      media: isVideo ? 'video' : 'image',
      request: parsed.data,
      prompt,
      imageUrls: picturesOf(input),
      count,
      ratio: textOf(input['aspect_ratio']) ?? textOf(input['ratio']) ?? textOf(input['image_size']) ?? '3:4',
      durationS: seconds,
      cost: [{ unit: 'credit:kie', amountMicros }],
    },
    call.fate(),
  );
  return kieSuccess({ taskId: task.taskId });
}

async function recordInfo(desk: TaskDesk, call: Call): Promise<Response> {
  const task = desk.find('kie', call.url.searchParams.get('taskId') ?? '');
  if (task === undefined || task.dialect !== 'market') return kieRefusal(422, 'recordInfo is null');
  const look = await desk.look(task);
  if (look.hidden !== undefined) return kieRefusal(422, 'recordInfo is null');
  const state = kieState(look);
  const failed = state === 'fail';
  return kieSuccess({
    taskId: task.taskId,
    model: task.model,
    state,
    param: JSON.stringify(task.request),
    resultJson: state === 'success' ? JSON.stringify({ resultUrls: look.urls }) : '',
    failCode: failed ? look.failCode : '',
    failMsg: failed ? look.failMessage : '',
    costTime: state === 'success' || failed ? task.dueAtMs - task.acceptedAtMs : null,
    createTime: task.acceptedAtMs,
    updateTime: task.dueAtMs,
    completeTime: state === 'success' || failed ? look.endedAtMs : null,
    ...(state === 'success' && look.cost !== undefined
      ? { creditsConsumed: unitsOf(look.cost[0]?.amountMicros ?? 0) }
      : {}),
  });
}

function kieState(look: TaskView): string {
  if (look.strangeWord !== undefined) return look.strangeWord;
  if (look.verdict === 'succeeded') return 'success';
  if (look.verdict !== 'running') return 'fail';
  return look.progressPct < 10 ? 'waiting' : look.progressPct < 30 ? 'queuing' : 'generating';
}
