import { z } from 'zod';

const partSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.union([z.string(), z.object({ url: z.string() })]) }),
]);
const messageSchema = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(partSchema)]),
});

export const chatRequestSchema = z.object({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
  max_tokens: z.int().positive().optional(),
  max_completion_tokens: z.int().positive().optional(),
  response_format: z.looseObject({ type: z.string() }).optional(),
});
export type ChatRequest = z.infer<typeof chatRequestSchema>;

/** What a chat request says, flattened. */
export interface Asked {
  readonly system: string;
  readonly prompt: string;
  readonly pictures: readonly string[];
  readonly wantsJson: boolean;
  /** `json_schema` of the response format, where one is given. */
  readonly schema: unknown;
}

export function readAsked(request: ChatRequest): Asked {
  const texts: Record<'system' | 'user', string[]> = { system: [], user: [] };
  const pictures: string[] = [];
  for (const message of request.messages) {
    const side = message.role === 'system' || message.role === 'developer' ? 'system' : 'user';
    if (message.role === 'assistant') continue;
    if (typeof message.content === 'string') {
      texts[side].push(message.content);
      continue;
    }
    for (const part of message.content) {
      if (part.type === 'text') texts[side].push(part.text);
      else pictures.push(typeof part.image_url === 'string' ? part.image_url : part.image_url.url);
    }
  }
  const format = request.response_format;
  return {
    system: texts.system.join('\n'),
    prompt: texts.user.join('\n'),
    pictures,
    wantsJson: format !== undefined && format.type.startsWith('json'),
    schema: format?.type === 'json_schema' ? schemaOf(format['json_schema']) : undefined,
  };
}

function schemaOf(value: unknown): unknown {
  const parsed = z.looseObject({ schema: z.unknown() }).safeParse(value);
  return parsed.success ? parsed.data.schema : value;
}
