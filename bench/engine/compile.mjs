import { compile } from '../../src/engine/index.ts';
import { serve } from '../lib/child.mjs';
import { emptyDefinitions } from '../lib/world.mjs';
import { wideGraph } from './workflow.mjs';

/** A 2,000-node graph, compiled once in a fresh process, as at a start. */
serve(async () => {
  const definitions = emptyDefinitions([wideGraph(2_000)]);
  const startedAt = performance.now();
  const compiled = compile(definitions, { functions: new Set(['add-one']) });
  const compile_2000_nodes_ms = performance.now() - startedAt;
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.failure.slice(0, 3)));
  return { compile_2000_nodes_ms };
});
