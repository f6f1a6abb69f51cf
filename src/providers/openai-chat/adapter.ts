import type { Adapter, PreparedRequest, ProviderDeps, ProviderFactory, SubmitOutcome } from '../../contract/index.ts';
import { fail, ok } from '../../kernel/index.ts';
import { createVendorLine, inputFailure, unhappySubmit, type VendorLine } from '../common/index.ts';
import { failureOfAnswer, isRefusalStatus } from '../common/index.ts';
import { type HttpAnswer, normaliseChatBaseUrl } from '../http/index.ts';
import { type ChatReading, costOf, readChatAnswer } from './answer.ts';
import { buildChatBody, preparedSchema, prepareChat } from './request.ts';

const implementation = 'openai-chat';
const version = 1;

/** Any OpenAI-compatible chat API: text, and pictures as data URLs. One request, one shape, streamed or not. */
export const createOpenAiChatProvider: ProviderFactory = (deps) => ({
  account: deps.account.id,
  adapters: [createChatAdapter(deps, createVendorLine(deps))],
});

export function createChatAdapter(deps: ProviderDeps, line: VendorLine): Adapter {
  const url = `${normaliseChatBaseUrl(deps.account.baseUrl)}/chat/completions`;
  return {
    implementation,
    version,
    capabilities: ['text.generate', 'image.analyze'],
    prepare: (call) => {
      const prepared = prepareChat(call);
      return Promise.resolve(
        prepared.ok
          ? ok({
              implementation,
              version,
              key: call.key,
              model: call.model.id,
              capability: call.capability,
              body: { ...prepared.value },
            })
          : fail(inputFailure({ name: 'prompt', what: prepared.failure }, deps.account.id)),
      );
    },
    submit: async (request, signal) => await submit(deps, line, url, request, signal),
  };
}

async function submit(
  deps: ProviderDeps,
  line: VendorLine,
  url: string,
  request: PreparedRequest,
  signal: AbortSignal,
): Promise<SubmitOutcome> {
  const body = await buildChatBody(preparedSchema.parse(request.body), deps.media, signal);
  if (!body.ok) return { kind: 'refused', failure: { ...body.failure, provider: deps.account.id } };
  const answer = await line.send({ method: 'POST', url, body: { json: body.value } }, deps.timeouts.textMs, signal);
  return judge(answer, readChatAnswer(answer), line);
}

/**
 * An error object counts before the status. With an error status nothing was generated; in a 200 (or in a stream)
 * generation had begun, so the bill stands. 503 and 529 with the vendor's own error object say "too busy": turned away.
 */
function judge(answer: HttpAnswer, reading: ChatReading | undefined, line: VendorLine): SubmitOutcome {
  const context = line.context();
  if (answer.kind === 'none' || reading === undefined) return unhappySubmit(answer, context, undefined);
  const { error } = reading;
  if (answer.status >= 300) {
    const isTurnedAway = error !== undefined && (answer.status === 503 || answer.status === 529);
    if (isRefusalStatus(answer.status) || isTurnedAway) {
      return { kind: 'refused', failure: failureOfAnswer(answer, context, error) };
    }
    return unhappySubmit(answer, context, error === undefined ? undefined : { kind: 'error', error });
  }
  const cost = costOf(reading.usage);
  if (error !== undefined) {
    const failure = failureOfAnswer(answer, context, { ...error, kind: error.kind ?? 'generation-failed' });
    return { kind: 'failed', failure, cost };
  }
  return judgeText(answer, reading, line);
}

function judgeText(answer: HttpAnswer, reading: ChatReading, line: VendorLine): SubmitOutcome {
  const cost = costOf(reading.usage);
  const failed = (
    kind: 'content-policy' | 'overload' | 'output-invalid',
    code: string,
    message: string,
  ): SubmitOutcome => ({
    kind: 'failed',
    failure: failureOfAnswer(answer, line.context(), { kind, code, message }),
    cost,
  });
  const { text, refusal, finish } = reading;
  if (refusal !== '') return failed('content-policy', 'refusal', refusal);
  if (finish === 'content_filter') return failed('content-policy', 'content_filter', 'the vendor filtered the answer');
  if (finish === 'insufficient_system_resource') return failed('overload', finish, 'the vendor ran out of capacity');
  if (finish === 'error') return failed('output-invalid', 'finish_error', 'the answer ended with an error');
  if (text.trim() === '') {
    return failed('output-invalid', 'empty', `an empty answer (finish_reason ${finish ?? 'missing'})`);
  }
  const known = finish === 'stop' || finish === 'length' ? finish : 'other';
  return { kind: 'completed', output: { text, finish: known }, cost };
}
