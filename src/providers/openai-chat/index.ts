export { createOpenAiChatProvider } from './adapter.ts';
