export { createOpenrouterProvider } from './adapter.ts';
