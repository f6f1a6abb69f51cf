export { type ComparedRun, type Comparison, renderComparison } from './compare/page.ts';
export { createFunctions, type FunctionDeps } from './create-functions.ts';
export { createFolderKnowledge } from './knowledge/folder.ts';
export type { KnowledgeDocument } from './knowledge/rank.ts';
export type { Knowledge } from './knowledge/search.ts';
export type { PictureFacts, PictureWorker, SheetOptions } from './picture/port.ts';
export { createSharpPictureWorker } from './picture/sharp-worker.ts';
export { splitShots } from './script/shots.ts';
export type { RedLineTexts } from './text/red-lines.ts';
