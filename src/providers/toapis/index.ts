export { createToapisProvider } from './adapter.ts';
