export { createScriptedProvider } from './adapter.ts';
