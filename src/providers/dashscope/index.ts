export { createDashscopeProvider } from './adapter.ts';
