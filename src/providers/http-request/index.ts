export { createHttpRequestProvider } from './adapter.ts';
