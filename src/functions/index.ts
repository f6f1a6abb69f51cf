export { renderComparison } from './compare/page.ts';
export { createFunctions } from './create-functions.ts';
export { createFolderKnowledge } from './knowledge/folder.ts';
export type { Knowledge } from './knowledge/search.ts';
export type { PictureWorker } from './picture/port.ts';
export { createSharpPictureWorker } from './picture/sharp-worker.ts';
export { splitShots } from './script/shots.ts';
