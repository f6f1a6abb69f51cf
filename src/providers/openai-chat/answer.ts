import type { ReportedCost } from '../../contract/index.ts';
import { isJsonObject, parseMoney } from '../../kernel/index.ts';
import type { VendorError } from '../common/index.ts';
import { type HttpAnswer, parseLosslessJson } from '../http/index.ts';
import { readChatError } from './codes.ts';
import { chunkSchema, completionSchema, textOf, type Usage } from './wire.ts';

/** What a chat answer holds, streamed or not: one shape. */
export interface ChatReading {
  readonly text: string;
  readonly refusal: string;
  readonly finish: string | undefined;
  readonly usage: Usage | undefined;
  /** An error object in the body or in the stream; it counts whatever the HTTP status says. */
  readonly error: VendorError | undefined;
  /** Whether the answer had any choice at all. */
  readonly hasChoice: boolean;
}

/** Reads a whole answer; undefined when it is neither a completion, nor a stream of events, nor an error. */
export function readChatAnswer(answer: HttpAnswer): ChatReading | undefined {
  if (answer.kind === 'json') return readCompletion(answer.json);
  if (answer.kind === 'text' && /^\s*(:|data:|event:|id:|retry:)/.test(answer.text)) return readStream(answer.text);
  return undefined;
}

function readCompletion(json: unknown): ChatReading | undefined {
  const error = readChatError(json);
  const completion = completionSchema.safeParse(json);
  if (!completion.success) return undefined;
  const [choice] = completion.data.choices ?? [];
  if (choice === undefined && error === undefined && !(isJsonObject(json) && 'choices' in json)) return undefined;
  return {
    text: textOf(choice?.message?.content),
    refusal: choice?.message?.refusal ?? '',
    finish: choice?.finish_reason ?? undefined,
    usage: completion.data.usage ?? undefined,
    error,
    hasChoice: choice !== undefined,
  };
}

/** Server-sent events: comment lines are keep-alives, `[DONE]` ends, an error may stand in any event. */
function readStream(body: string): ChatReading {
  let reading: ChatReading = {
    text: '',
    refusal: '',
    finish: undefined,
    usage: undefined,
    error: undefined,
    hasChoice: false,
  };
  for (const line of body.split(/\r\n|\n|\r/)) {
    const data = /^data:\s?(.*)$/.exec(line)?.[1];
    const parsed = data === undefined || data.trim() === '[DONE]' ? undefined : parseLosslessJson(data);
    if (parsed === undefined) continue;
    const chunk = chunkSchema.safeParse(parsed.value).data;
    const [choice] = chunk?.choices ?? [];
    reading = {
      text: reading.text + textOf(choice?.delta?.content),
      refusal: reading.refusal + (choice?.delta?.refusal ?? ''),
      finish: choice?.finish_reason ?? reading.finish,
      usage: chunk?.usage ?? reading.usage,
      error: reading.error ?? readChatError(parsed.value),
      hasChoice: reading.hasChoice || choice !== undefined,
    };
  }
  return reading;
}

/** Tokens for the price table, and the vendor's own sum where it gives one. */
export function costOf(usage: Usage | undefined): ReportedCost {
  if (usage === undefined) return {};
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  const amount = usage.cost === undefined || usage.cost === null ? undefined : parseMoney('USD', usage.cost);
  return {
    usage: {
      calls: 1,
      inputTokens: Math.max(0, (usage.prompt_tokens ?? 0) - cached),
      cachedInputTokens: cached,
      outputTokens: usage.completion_tokens ?? 0,
    },
    ...(amount?.ok === true ? { amount: amount.value } : {}),
  };
}
