export { createChatAdapter, createOpenAiChatProvider } from './adapter.ts';
