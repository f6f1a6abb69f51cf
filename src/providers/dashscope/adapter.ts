import type { ProviderFactory } from '../../contract/index.ts';
import { createTaskAdapter, createVendorLine } from '../common/index.ts';
import { normaliseBaseUrl } from '../http/index.ts';
import { createChatAdapter } from '../openai-chat/index.ts';
import { createDashScopeDialect, type Service } from './dialect.ts';

const services: readonly Service[] = [
  { implementation: 'dashscope.video', capability: 'video.generate', path: 'video-generation/video-synthesis' },
  { implementation: 'dashscope.image', capability: 'image.generate', path: 'text2image/image-synthesis' },
  { implementation: 'dashscope.image-edit', capability: 'image.generate', path: 'image2image/image-synthesis' },
];

/** Alibaba Bailian: Wan films and pictures as tasks; Qwen and Qwen-VL through its OpenAI-compatible address. */
export const createDashscopeProvider: ProviderFactory = (deps) => {
  const line = createVendorLine(deps);
  const baseUrl = normaliseBaseUrl(deps.account.baseUrl, [
    '/compatible-mode/v1',
    '/compatible-mode',
    '/api/v1',
    '/api',
  ]);
  const chat = { ...deps, account: { ...deps.account, baseUrl: `${baseUrl}/compatible-mode/v1` } };
  return {
    account: deps.account.id,
    adapters: [
      ...services.map((service) => createTaskAdapter(deps, line, createDashScopeDialect(service, baseUrl, line, deps))),
      createChatAdapter(chat, line),
    ],
  };
};
