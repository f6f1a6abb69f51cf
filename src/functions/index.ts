export { createFunctions, type FunctionDeps } from './create-functions.ts';
export { createFolderKnowledge } from './knowledge/folder.ts';
export type { Knowledge, KnowledgeDocument } from './knowledge/search.ts';
export type { PictureFacts, PictureWorker, SheetOptions } from './picture/port.ts';
export { createSharpPictureWorker } from './picture/sharp-worker.ts';
export { splitShots } from './script/shots.ts';
export type { RedLineTexts } from './text/red-lines.ts';
