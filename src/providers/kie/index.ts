export { createKieProvider } from './adapter.ts';
