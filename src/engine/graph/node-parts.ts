import type { NodeDefinition } from '../../contract/index.ts';
import type { JsonObject } from '../../kernel/index.ts';
import { type Mapping, readMapping } from './path.ts';

/** Everything in a node that may hold data paths, with its place. */
export function mappingsOf(
  node: NodeDefinition,
): readonly { readonly place: readonly string[]; readonly mapping: Mapping }[] {
  const found: { place: readonly string[]; mapping: Mapping }[] = [];
  const take = (place: readonly string[], mapping: JsonObject | undefined): void => {
    if (mapping !== undefined) found.push({ place, mapping: readMapping(mapping) });
  };
  take(['input'], node.input);
  if (node.kind === 'skill') take(['params'], node.params);
  if (node.kind === 'map') {
    take([], { over: node.over });
    if ('skill' in node.body) take(['body', 'params'], node.body.params);
  }
  if (
    typeof node.on_failure === 'object' &&
    typeof node.on_failure.fallback === 'object' &&
    'preset' in node.on_failure.fallback
  ) {
    take(['on_failure', 'fallback', 'preset'], node.on_failure.fallback.preset);
  }
  return found;
}

/** The node that this one falls back on, if any. */
export function fallbackNode(node: NodeDefinition): string | undefined {
  if (typeof node.on_failure !== 'object' || typeof node.on_failure.fallback !== 'object') return undefined;
  return 'node' in node.on_failure.fallback ? node.on_failure.fallback.node : undefined;
}
