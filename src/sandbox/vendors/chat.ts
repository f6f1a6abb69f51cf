import { microsPerUnit } from '../../kernel/index.ts';
import { composeAnswer } from '../chat/compose.ts';
import { type Asked, type ChatRequest, chatRequestSchema, readAsked } from '../chat/request.ts';
import { addEndpoint, type Call, jsonResponse } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';
import { readOwnPicture } from './files-api.ts';
import { hasKey } from './shared.ts';

/** Accounts of OpenAI-compatible chat: three, so that each of three models may fail by itself, and Bailian's own. */
const chatMounts = [
  { vendor: 'llm', path: '/llm/v1' },
  { vendor: 'llm-backup', path: '/llm-backup/v1' },
  { vendor: 'llm-third', path: '/llm-third/v1' },
  { vendor: 'dashscope', path: '/dashscope/compatible-mode/v1' },
] as const;

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

function refusal(status: number, code: string, message: string): Response {
  return jsonResponse({ error: { message, type: 'invalid_request_error', param: null, code } }, status);
}

export function addChatApi(world: World): void {
  for (const { vendor, path } of chatMounts) {
    addEndpoint(world, {
      name: `${vendor}.chat`,
      method: 'POST',
      path: `${path}/chat/completions`,
      latency: 'chatMs',
      maxBodyBytes: 64 * 1024 * 1024,
      handle: (call) => complete(world, vendor, call),
    });
  }
}

async function complete(world: World, vendor: string, call: Call): Promise<Response> {
  if (!hasKey(world, vendor, call)) return refusal(401, 'invalid_api_key', 'Incorrect API key provided');
  const parsed = chatRequestSchema.safeParse(call.json());
  if (!parsed.success) return refusal(400, 'invalid_request', parsed.error.issues[0]?.message ?? 'bad body');
  const request = parsed.data;
  const asked = readAsked(request);
  const pictures = await Promise.all(asked.pictures.map((address) => readOwnPicture(world, address)));
  if (pictures.includes(undefined)) return refusal(400, 'invalid_image_url', 'Invalid or unreadable image');
  if (pictures.length > 0 && request.model.includes('text-only')) {
    return refusal(400, 'invalid_request', 'This model does not support image input');
  }
  const written = composeAnswer(asked);
  const limit = (request.max_completion_tokens ?? request.max_tokens ?? 16_384) * 2;
  const text = written.slice(0, limit);
  const usage = usageOf(asked, text);
  const id = newToken(world, 'chatcmpl-', 24);
  bill(world, { vendor, id, model: request.model, usage });
  const finish = text.length < written.length ? 'length' : 'stop';
  return request.stream === true
    ? stream(world, { id, request, text, usage, finish })
    : jsonResponse({
        id,
        object: 'chat.completion',
        created: Math.floor(world.clock.nowMs() / 1000),
        model: request.model,
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }],
        usage: { ...usage },
      });
}

/** About two characters a token, and a flat sum a picture. */
function usageOf(asked: Asked, text: string): Usage {
  const prompt = Math.ceil((asked.system.length + asked.prompt.length) / 2) + asked.pictures.length * 800;
  const completion = Math.ceil(text.length / 2);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function bill(world: World, entry: { vendor: string; id: string; model: string; usage: Usage }): void {
  const { vendor, id, model, usage } = entry;
  const shared = { vendor, taskId: id, model, atMs: world.clock.nowMs() };
  world.state.chatBill.push(
    { ...shared, unit: 'inputTokens', amountMicros: usage.prompt_tokens * microsPerUnit },
    { ...shared, unit: 'outputTokens', amountMicros: usage.completion_tokens * microsPerUnit },
  );
}

function stream(
  world: World,
  answer: { id: string; request: ChatRequest; text: string; usage: Usage; finish: string },
): Response {
  const { id, request, text, usage, finish } = answer;
  const shared = {
    id,
    object: 'chat.completion.chunk',
    created: Math.floor(world.clock.nowMs() / 1000),
    model: request.model,
  };
  const chunks = (text.match(/[\s\S]{1,40}/g) ?? []).map((content) => ({
    ...shared,
    choices: [{ index: 0, delta: { content }, finish_reason: null as string | null }],
  }));
  const events = [
    ...chunks,
    { ...shared, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    ...(request.stream_options?.include_usage === true ? [{ ...shared, choices: [], usage }] : []),
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return new Response(`${events.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}
