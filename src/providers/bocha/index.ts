export { createBochaProvider } from './adapter.ts';
