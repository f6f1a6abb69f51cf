export { createArkProvider } from './adapter.ts';
