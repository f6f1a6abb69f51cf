import type { ProviderFactory } from '../contract/index.ts';
import { createArkProvider } from './ark/index.ts';
import { createBochaProvider } from './bocha/index.ts';
import { createChatByHostProvider } from './chat-by-host.ts';
import { createDashscopeProvider } from './dashscope/index.ts';
import { createDeepseekProvider } from './deepseek/index.ts';
import { createHttpRequestProvider } from './http-request/index.ts';
import { createKieProvider } from './kie/index.ts';
import { createOpenrouterProvider } from './openrouter/index.ts';
import { createScriptedProvider } from './scripted/index.ts';
import { createToapisProvider } from './toapis/index.ts';

/** Every vendor that this program speaks to, by the `vendor` of `config/providers.yaml` (its folder here). */
export const providerFactories: Readonly<Record<string, ProviderFactory>> = {
  ark: createArkProvider,
  bocha: createBochaProvider,
  dashscope: createDashscopeProvider,
  deepseek: createDeepseekProvider,
  'http-request': createHttpRequestProvider,
  kie: createKieProvider,
  'openai-chat': createChatByHostProvider,
  openrouter: createOpenrouterProvider,
  scripted: createScriptedProvider,
  toapis: createToapisProvider,
};
