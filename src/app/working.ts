/**
 * The third door of the room: the worker, an engine of one's own, vendors to be asked. Apart from the first because that
 * one holds the sandbox as well, which a live worker never needs.
 */
export { createProviders } from './assemble.ts';
export { createProbePorts, type LivePorts } from './live-ports.ts';
export { type LoneEngine, openLoneEngine } from './lone-engine.ts';
export { serveLoopback } from './loopback.ts';
export { startWorker } from './worker.ts';
