import { z } from 'zod';
import { formatMicros, type Json, type JsonObject } from '../../kernel/index.ts';
import { addEndpoint, type Call, jsonResponse } from '../endpoint.ts';
import type { TaskState } from '../state.ts';
import { newToken, type World } from '../world.ts';
import { addUploadedFile, uploadedFile } from './files-api.ts';
import { toapisCreditsPerUsd, toapisImageUsdMicros, toapisVideoUsdMicros } from './prices.ts';
import { hasKey, remainingMicros, takeFunds, unitsOf } from './shared.ts';
import { fileUrl, type TaskDesk, type TaskView } from './tasks.ts';

const urlItem = z.union([z.string(), z.looseObject({ url: z.string() })]);
const generationSchema = z.looseObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  size: z.string().optional(),
  aspect_ratio: z.string().optional(),
  resolution: z.string().optional(),
  n: z.int().min(1).max(9).optional(),
  duration: z.coerce.number().optional(),
  image_urls: z.array(urlItem).optional(),
  reference_images: z.array(urlItem).optional(),
  image_with_roles: z.array(z.looseObject({ url: z.string() })).optional(),
  client_business_id: z.string().optional(),
  metadata: z.record(z.string(), z.json()).optional(),
});
type Generation = z.infer<typeof generationSchema>;

function refusal(status: number, code: string, message: string): Response {
  return jsonResponse({ error: { code, message, type: 'toapis_error' } }, status);
}

export function addToapisApi(world: World, desk: TaskDesk): void {
  for (const media of ['image', 'video'] as const) {
    addEndpoint(world, {
      name: `toapis.${media}s.create`,
      method: 'POST',
      path: `/toapis/v1/${media}s/generations`,
      latency: 'vendorMs',
      handle: (call) => create(world, desk, { call, media }),
    });
    addEndpoint(world, {
      name: `toapis.${media}s.get`,
      method: 'GET',
      path: `/toapis/v1/${media}s/generations/:id`,
      latency: 'vendorMs',
      handle: (call) => get(world, desk, { call, media }),
    });
  }
  addUpload(world);
  for (const scope of ['balance', 'user/balance'] as const) {
    addEndpoint(world, {
      name: scope === 'balance' ? 'toapis.balance' : 'toapis.userBalance',
      method: 'GET',
      path: `/toapis/v1/${scope}`,
      latency: 'vendorMs',
      handle: (call) => balance(world, call, scope),
    });
  }
}

function picturesOf(body: Generation): string[] {
  const listed = [...(body.image_urls ?? []), ...(body.reference_images ?? []), ...(body.image_with_roles ?? [])];
  return listed.map((item) => (typeof item === 'string' ? item : item.url));
}

async function create(
  world: World,
  desk: TaskDesk,
  { call, media }: { call: Call; media: 'image' | 'video' },
): Promise<Response> {
  if (!hasKey(world, 'toapis', call)) return refusal(401, 'unauthorized', 'invalid token');
  const parsed = generationSchema.safeParse(call.json());
  if (!parsed.success) return refusal(400, 'invalid_request', parsed.error.issues[0]?.message ?? 'bad body');
  const body = parsed.data;
  const pictures = picturesOf(body);
  if (media === 'image' && pictures.some((url) => url.startsWith('data:'))) {
    return refusal(400, 'invalid_request', 'base64 images are not supported, use urls');
  }
  if (body.image_urls !== undefined && body.image_with_roles !== undefined) {
    return refusal(400, 'invalid_request', 'image_urls and image_with_roles exclude each other');
  }
  const usdMicros =
    media === 'image'
      ? toapisImageUsdMicros(body.resolution ?? '1k', body.n ?? 1)
      : toapisVideoUsdMicros(body.duration ?? 5);
  const amountMicros = usdMicros * toapisCreditsPerUsd;
  if (!takeFunds(world, 'toapis', amountMicros)) return refusal(402, 'insufficient_quota', 'quota is not enough');
  const fromMetadata = body.metadata?.['client_business_id'];
  const clientId = body.client_business_id ?? (typeof fromMetadata === 'string' ? fromMetadata : undefined);
  const request: Json = z.json().parse(body);
  const task = await desk.accept(
    {
      vendor: 'toapis',
      dialect: media,
      taskId: newToken(world, media === 'image' ? 'img_' : 'vid_', 24),
      model: body.model,
      media,
      ...(clientId === undefined ? {} : { clientId }),
      request,
      prompt: body.prompt,
      imageUrls: pictures,
      count: body.n ?? 1,
      ratio: body.size ?? body.aspect_ratio ?? '3:4',
      durationS: body.duration ?? 5,
      cost: [{ unit: 'credit:toapis', amountMicros }],
    },
    call.fate(),
  );
  return jsonResponse({ ...head(task), status: 'queued', progress: 0 });
}

function head(task: TaskState): JsonObject {
  return {
    id: task.taskId,
    object: 'generation.task',
    model: task.model,
    created_at: Math.floor(task.acceptedAtMs / 1000),
    metadata: {},
    ...(task.clientId === undefined ? {} : { client_business_id: task.clientId }),
  };
}

async function get(
  world: World,
  desk: TaskDesk,
  { call, media }: { call: Call; media: 'image' | 'video' },
): Promise<Response> {
  if (!hasKey(world, 'toapis', call)) return refusal(401, 'unauthorized', 'invalid token');
  const task = desk.find('toapis', call.params['id'] ?? '');
  const missing = jsonResponse({ error: { code: 404, type: 'not_found_error', message: 'task_not_exist' } }, 404);
  if (task === undefined || task.media !== media) return missing;
  const look = await desk.look(task);
  if (look.hidden !== undefined) return missing;
  return jsonResponse({ ...head(task), ...state(task, look) });
}

function billing(look: TaskView, refunded: boolean): JsonObject {
  if (refunded && look.cost === undefined) return { billing: { status: 'refunded', credits: '0', cost_usd: '0' } };
  if (look.cost === undefined) return {};
  const micros = look.cost[0]?.amountMicros ?? 0;
  return {
    billing: {
      status: 'charged',
      credits: trimZeros(formatMicros(micros, 6)),
      cost_usd: trimZeros(formatMicros(micros / toapisCreditsPerUsd, 6)),
    },
  };
}

function trimZeros(text: string): string {
  return text.replace(/\.?0+$/, '');
}

function state(task: TaskState, look: TaskView): JsonObject {
  if (look.strangeWord !== undefined) return { status: look.strangeWord, progress: look.progressPct };
  switch (look.verdict) {
    case 'running':
      return { status: look.progressPct < 15 ? 'queued' : 'in_progress', progress: look.progressPct };
    case 'succeeded': {
      const format = task.media === 'video' ? 'mp4' : 'png';
      return {
        status: 'completed',
        progress: 100,
        result: { type: task.media, data: look.urls.map((url) => ({ url, format })) },
        completed_at: Math.floor(look.endedAtMs / 1000),
        expires_at: Math.floor(look.endedAtMs / 1000) + 86_400,
        ...billing(look, false),
      };
    }
    case 'failed':
    case 'canceled':
      return {
        status: 'failed',
        progress: 100,
        error: { code: look.failCode === '500' ? 'generation_failed' : look.failCode, message: look.failMessage },
        ...billing(look, true),
      };
  }
}

const maxUploadBytes = 10_000_000;

function addUpload(world: World): void {
  addEndpoint(world, {
    name: 'toapis.upload',
    method: 'POST',
    path: '/toapis/v1/uploads/images',
    latency: 'vendorMs',
    handle: async (call) => {
      if (!hasKey(world, 'toapis', call)) return refusal(401, 'unauthorized', 'invalid token');
      const upload = uploadedFile(call);
      if (upload === undefined) return refusal(400, 'invalid_request', 'file is required');
      if (upload.bytes.length > maxUploadBytes) return refusal(400, 'invalid_request', 'file is larger than 10MB');
      if (!world.painter.isPicture(upload.bytes)) return refusal(400, 'invalid_request', 'not an image');
      const file = await addUploadedFile(world, { ...upload, lifeMs: 86_400_000 });
      return jsonResponse({ success: true, data: { url: fileUrl(world, file.fileId), size: upload.bytes.length } });
    },
  });
}

/**
 * `unlimited_quota` is a mark of the key's policy: its own figures say nothing then (-1). What runs out are the account's
 * credits.
 */
function balance(world: World, call: Call, scope: 'balance' | 'user/balance'): Response {
  if (!hasKey(world, 'toapis', call)) return jsonResponse({ success: false, message: 'invalid token' });
  const left = remainingMicros(world, 'toapis');
  const isKey = scope === 'balance';
  const credits = unitsOf(left);
  return jsonResponse({
    success: true,
    remain_balance: isKey ? -1 : credits / toapisCreditsPerUsd,
    used_balance: 0,
    remain_credits: isKey ? -1 : credits,
    used_credits: 0,
    credits_per_usd: toapisCreditsPerUsd,
    unlimited_quota: true,
  });
}
