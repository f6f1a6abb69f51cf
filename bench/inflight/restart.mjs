import { createEngine } from '../../src/engine/index.ts';
import { serve } from '../lib/child.mjs';
import { engineDeps, openStore } from '../lib/world.mjs';
import { collector, createVendor, filmDefinitions } from './vendor.mjs';

/** A worker was killed with every row at the vendor: from opening the store until the engine watches all of them again. */
serve(async ({ rows, directoryPath, shortestMs, longestMs }) => {
  const startedAt = performance.now();
  const store = openStore(directoryPath);
  const vendor = createVendor({ shortestMs, longestMs, answerMs: 50 });
  const definitions = filmDefinitions({ shortestMs, longestMs });
  const engine = createEngine(
    engineDeps(directoryPath, {
      store,
      definitions: () => definitions,
      providers: new Map([['bench', vendor.provider]]),
      collector,
    }),
  );
  await engine.start();
  while (engine.activity().driving < rows) {
    if (performance.now() - startedAt > 60_000) throw new Error(`only ${engine.activity().driving} are driven again`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const restart_ms = performance.now() - startedAt;
  // Each task is really asked for again: once, within the spread after a restart.
  while (vendor.books.polledTasks.size < rows) {
    if (performance.now() - startedAt > 120_000) throw new Error(`only ${vendor.books.polledTasks.size} were polled`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const all_polled_ms = performance.now() - startedAt;
  if (vendor.books.submits > 0) throw new Error('a restart submitted again');
  return { restart_ms, restart_all_polled_ms: all_polled_ms };
});
