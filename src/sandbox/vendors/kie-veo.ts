import { z } from 'zod';
import { addEndpoint, type Call } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';
import { kieRefusal, kieSuccess } from './kie.ts';
import { kieCostMicros } from './prices.ts';
import { hasKey, takeFunds, unitsOf } from './shared.ts';
import type { TaskDesk } from './tasks.ts';

const generateSchema = z.object({
  prompt: z.string().min(1),
  imageUrls: z.array(z.string()).max(3).optional(),
  model: z.enum(['veo3', 'veo3_fast', 'veo3_lite']).optional(),
  generationType: z.enum(['TEXT_2_VIDEO', 'FIRST_AND_LAST_FRAMES_2_VIDEO', 'REFERENCE_2_VIDEO']).optional(),
  aspect_ratio: z.string().optional(),
  resolution: z.string().optional(),
});

const veoSeconds = 8;

/** The Veo dialect: numbers for states, times as strings, its own answer shape. */
export function addKieVeoApi(world: World, desk: TaskDesk, allow: () => boolean): void {
  addEndpoint(world, {
    name: 'kie.veo.generate',
    method: 'POST',
    path: '/kie/api/v1/veo/generate',
    latency: 'vendorMs',
    handle: async (call) => {
      if (!hasKey(world, 'kie', call)) return kieRefusal(401, 'You do not have access permissions');
      if (!allow()) return kieRefusal(429, 'Too many requests, please try again later');
      const parsed = generateSchema.safeParse(call.json());
      if (!parsed.success) return kieRefusal(422, 'The request body is invalid');
      const { prompt, imageUrls = [], model = 'veo3_fast', aspect_ratio: ratio = '16:9' } = parsed.data;
      const amountMicros = kieCostMicros(model, { count: 1, seconds: veoSeconds });
      if (!takeFunds(world, 'kie', amountMicros)) return kieRefusal(402, 'Credits insufficient');
      const task = await desk.accept(
        {
          vendor: 'kie',
          dialect: 'veo',
          taskId: newToken(world, 'veo_task_', 24).toLowerCase(),
          model,
          media: 'video',
          request: parsed.data,
          prompt,
          imageUrls,
          count: 1,
          ratio,
          durationS: veoSeconds,
          cost: [{ unit: 'credit:kie', amountMicros }],
        },
        call.fate(),
      );
      return kieSuccess({ taskId: task.taskId });
    },
  });
  addEndpoint(world, {
    name: 'kie.veo.recordInfo',
    method: 'GET',
    path: '/kie/api/v1/veo/record-info',
    latency: 'vendorMs',
    handle: async (call) => {
      if (!hasKey(world, 'kie', call)) return kieRefusal(401, 'You do not have access permissions');
      return recordInfo(desk, call);
    },
  });
}

async function recordInfo(desk: TaskDesk, call: Call): Promise<Response> {
  const task = desk.find('kie', call.url.searchParams.get('taskId') ?? '');
  if (task === undefined || task.dialect !== 'veo') return kieRefusal(422, 'record is null');
  const look = await desk.look(task);
  if (look.hidden !== undefined) return kieRefusal(422, 'record is null');
  const flag = look.verdict === 'running' ? 0 : look.verdict === 'succeeded' ? 1 : 3;
  const times = { createTime: String(task.acceptedAtMs), completeTime: flag === 0 ? null : String(look.endedAtMs) };
  return kieSuccess({
    taskId: task.taskId,
    paramJson: JSON.stringify(task.request),
    successFlag: look.strangeWord === undefined ? flag : 7,
    ...times,
    errorCode: flag === 3 ? Number(look.failCode) : null,
    errorMessage: flag === 3 ? look.failMessage : '',
    fallbackFlag: false,
    response:
      flag === 1 ? { taskId: task.taskId, resultUrls: [...look.urls], originUrls: null, resolution: '720p' } : null,
    ...(flag === 1 && look.cost !== undefined ? { creditsConsumed: unitsOf(look.cost[0]?.amountMicros ?? 0) } : {}),
  });
}
