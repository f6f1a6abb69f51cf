export { createFunctions, type FunctionDeps } from './create-functions.ts';
export { splitShots } from './script/shots.ts';
export type { RedLineTexts } from './text/red-lines.ts';
