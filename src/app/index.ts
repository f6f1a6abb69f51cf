export { assemble, type House } from './assemble.ts';
export { readConfiguration } from './configuration.ts';
export { type LoopbackServer, serveLoopback, waitUntil } from './loopback.ts';
export type { Ports } from './ports.ts';
export { startWorker, type Worker } from './worker.ts';
export { sandboxTable as sandboxTableOf, sandboxTableId, sandboxVariables } from './sandbox.ts';
export { createTickLoop } from './loops.ts';
export { createSandboxWake } from './sandbox-wake.ts';
export { type DemoReport, playDemo } from './demo.ts';
