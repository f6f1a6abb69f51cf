export { type CollectorDeps, type CollectorSettings, createCollector } from './collector.ts';
export { createDiskSpool, type DiskSpoolOptions } from './disk-spool.ts';
export { safeFileName } from './file-name.ts';
export { createSharpFitter, type PictureFitter } from './fit-picture.ts';
export { createMemorySpool } from './memory-spool.ts';
export { type FileType, sniffType } from './sniff.ts';
export type { Spool } from './spool.ts';
