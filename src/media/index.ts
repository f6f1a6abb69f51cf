export { createCollector } from './collector.ts';
export { createDiskSpool } from './disk-spool.ts';
export { safeFileName } from './file-name.ts';
export { createSharpFitter } from './fit-picture.ts';
export { createMemorySpool } from './memory-spool.ts';
export { sniffType } from './sniff.ts';
export type { Spool } from './spool.ts';
