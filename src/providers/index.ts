import type { ProviderFactory } from '../contract/index.ts';
import { createKieProvider } from './kie/index.ts';
import { createOpenAiChatProvider } from './openai-chat/index.ts';
import { createToapisProvider } from './toapis/index.ts';

/** Every vendor that this program speaks to, by the `vendor` of `config/providers.yaml` (its folder here). */
export const providerFactories: Readonly<Record<string, ProviderFactory>> = {
  kie: createKieProvider,
  'openai-chat': createOpenAiChatProvider,
  toapis: createToapisProvider,
};
