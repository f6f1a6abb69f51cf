import { compile } from '../../src/engine/index.ts';
import { serve } from '../lib/child.mjs';
import { median } from '../lib/figures.mjs';
import { emptyDefinitions } from '../lib/world.mjs';
import { wideGraph } from './workflow.mjs';

/** A 2,000-node graph: the first compile of a fresh process, and the median of those that follow. */
serve(async () => {
  const definitions = emptyDefinitions([wideGraph(2_000)]);
  const times = [];
  for (let run = 0; run < 6; run += 1) {
    const startedAt = performance.now();
    const compiled = compile(definitions, { functions: new Set(['add-one']) });
    times.push(performance.now() - startedAt);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.failure.slice(0, 3)));
  }
  const [first, ...later] = times;
  return { compile_2000_nodes_ms: median(later), compile_2000_nodes_first_ms: first };
});
