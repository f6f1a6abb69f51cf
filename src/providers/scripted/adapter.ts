import { z } from 'zod';
import type { Adapter, PreparedRequest, ProviderDeps, ProviderFactory, SubmitOutcome } from '../../contract/index.ts';
import { fail, ok } from '../../kernel/index.ts';
import { chooseAnswer, configurationFailure, readAnswers, toOutput } from './answers.ts';

const implementation = 'scripted';
const version = 1;
const bodySchema = z.object({ file: z.string(), model: z.string(), prompt: z.string() });

/** For authors: answers from a file instead of a vendor. Free, local, the same every time. */
export const createScriptedProvider: ProviderFactory = (deps) => ({
  account: deps.account.id,
  adapters: [createScriptedAdapter(deps)],
});

function createScriptedAdapter(deps: ProviderDeps): Adapter {
  return {
    implementation,
    version,
    capabilities: ['text.generate', 'image.analyze', 'image.generate', 'video.generate'],
    prepare: (call) => {
      const file = call.model.fixed?.['file'];
      const { prompt } = call.input;
      if (typeof file !== 'string') {
        return Promise.resolve(fail(configurationFailure(`${call.model.id} names no file: fixed: { file: … }`)));
      }
      const body = { file, model: call.model.model, prompt: typeof prompt === 'string' ? prompt : '' };
      const { key, capability, model } = call;
      return Promise.resolve(ok({ implementation, version, key, model: model.id, capability, body }));
    },
    submit: async (request) => await submit(deps, request),
  };
}

async function submit(deps: ProviderDeps, request: PreparedRequest): Promise<SubmitOutcome> {
  const { file, model, prompt } = bodySchema.parse(request.body);
  const cost = { usage: { calls: 1 } };
  const answers = await readAnswers(file);
  if (!answers.ok) return { kind: 'refused', failure: answers.failure };
  const answer = chooseAnswer(answers.value, prompt, model);
  if (answer === undefined)
    return { kind: 'refused', failure: configurationFailure(`${file}: no answer fits this prompt`) };
  if (answer.fail !== undefined) {
    const failure = { ...answer.fail, code: 'scripted', provider: deps.account.id };
    return { kind: 'failed', failure, cost };
  }
  const output = await toOutput(answer, file, deps.media);
  return output.ok ? { kind: 'completed', output: output.value, cost } : { kind: 'refused', failure: output.failure };
}
