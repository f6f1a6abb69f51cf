import type { ProviderFactory } from '../contract/index.ts';
import { createDeepseekProvider } from './deepseek/index.ts';
import { createOpenAiChatProvider } from './openai-chat/index.ts';
import { createOpenrouterProvider } from './openrouter/index.ts';

/** All chat vendors speak one dialect; where the address is one whose balance can be asked, the account gets that too. */
export const createChatByHostProvider: ProviderFactory = (deps) => {
  const host = URL.parse(deps.account.baseUrl)?.hostname;
  if (host === 'api.deepseek.com') return createDeepseekProvider(deps);
  if (host === 'openrouter.ai') return createOpenrouterProvider(deps);
  return createOpenAiChatProvider(deps);
};
