export { createDeepseekProvider } from './adapter.ts';
