import { z } from 'zod';
import {
  type Artifact,
  artifactSchema,
  type Failure,
  type MediaSource,
  type ModelSettings,
  type PrepareCall,
} from '../../contract/index.ts';
import { fail, type Json, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import { readFitting } from '../common/index.ts';

/** What is stored with the intent: pictures by hash only, so that no megabytes lie in the store. */
export const preparedSchema = z.object({
  payload: z.record(z.string(), z.json()),
  system: z.string().optional(),
  prompt: z.string(),
  images: z.array(artifactSchema),
});
export interface PreparedChat {
  readonly payload: JsonObject;
  readonly system?: string | undefined;
  readonly prompt: string;
  readonly images: readonly Artifact[];
}

const inputSchema = z.object({
  system: z.string().optional(),
  prompt: z.string(),
  maxOutputTokens: z.number().optional(),
  temperature: z.number().optional(),
  format: z.enum(['text', 'json']).optional(),
  images: z.array(artifactSchema).optional(),
});

/** What is asked of a picture before it is sent inline: small enough to be cheap, large enough to see seams and text. */
const wishedLimits = { maxSidePx: 2_048, maxBytes: 1_500_000, mimes: ['image/jpeg', 'image/png', 'image/webp'] };
/** Largest picture that is sent all the same; DashScope and others refuse bodies above about 10 MB of base64. */
const maxInlineBytes = 7_000_000;
const takenTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif']);

/** Checks what can be known before paying, and keeps all but the pictures' bytes. */
export function prepareChat(call: PrepareCall): Result<PreparedChat, string> {
  const input = inputSchema.parse(call.input);
  const max = call.model.fields?.['images']?.max;
  const images = input.images ?? [];
  if (max !== undefined && images.length > max)
    return fail(`${images.length} pictures, ${call.model.id} takes at most ${max}`);
  const maxChars = call.model.fields?.['prompt']?.max_chars;
  const length = Array.from(`${input.system ?? ''}${input.prompt}`).length;
  if (maxChars !== undefined && length > maxChars) {
    return fail(`prompt of ${length} characters, ${call.model.id} takes at most ${maxChars}`);
  }
  const payload: Record<string, Json> = { stream: false, ...call.model.fixed, model: call.model.model };
  addParameters(payload, input, call.model);
  return ok({ payload, prompt: input.prompt, images, ...(input.system === undefined ? {} : { system: input.system }) });
}

/** Names differ (`max_tokens`, `max_completion_tokens`), and some models refuse a temperature: `fields` says so. */
function addParameters(payload: Record<string, Json>, input: z.infer<typeof inputSchema>, model: ModelSettings): void {
  const nameOf = (neutral: string, usual: string): string => model.fields?.[neutral]?.name ?? usual;
  const put = (name: string, value: Json | undefined): void => {
    if (name !== '' && value !== undefined) payload[name] = value;
  };
  put(nameOf('maxOutputTokens', 'max_tokens'), input.maxOutputTokens);
  put(nameOf('temperature', 'temperature'), input.temperature);
  if (input.format === 'json') put(nameOf('format', 'response_format'), { type: 'json_object' });
}

/** The body as it is sent: pictures become data URLs now. Fails without anything having been sent. */
export async function buildChatBody(
  prepared: PreparedChat,
  media: MediaSource,
  signal: AbortSignal,
): Promise<Result<JsonObject, Failure>> {
  const parts: JsonObject[] = [];
  for (const image of prepared.images) {
    const url = await toDataUrl(image, media, signal);
    if (!url.ok) return url;
    parts.push({ type: 'image_url', image_url: { url: url.value } });
  }
  const content: Json = parts.length === 0 ? prepared.prompt : [...parts, { type: 'text', text: prepared.prompt }];
  const system: JsonObject[] = prepared.system === undefined ? [] : [{ role: 'system', content: prepared.system }];
  return ok({ ...prepared.payload, messages: [...system, { role: 'user', content }] });
}

async function toDataUrl(image: Artifact, media: MediaSource, signal: AbortSignal): Promise<Result<string, Failure>> {
  const file = await readFitting(image, media, wishedLimits, signal);
  if (!file.ok) return file;
  const { bytes, mime } = file.value;
  if (!takenTypes.has(mime) || bytes.byteLength > maxInlineBytes) {
    return fail({
      kind: 'invalid-input',
      code: 'input.images',
      message: `${image.name} (${mime}, ${bytes.byteLength} bytes): a vision model takes JPEG, PNG, WebP or GIF up to ${maxInlineBytes} bytes`,
    });
  }
  return ok(`data:${mime};base64,${base64(bytes)}`);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
