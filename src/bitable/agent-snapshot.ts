import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AgentDefinition } from '../contract/index.ts';
import type { Store } from '../engine/ports/index.ts';
import { canonicalJson } from '../kernel/index.ts';

const plainSchema = z.record(z.string(), z.json());

/**
 * Keeps the agent as it stands by its content, beside the plans, and gives its hash: an execution that names it can be
 * explained after any later edit (which cells its input came from, where its artifacts were meant to go). Written once a
 * version.
 */
export async function keepAgent(store: Pick<Store, 'blob' | 'commit'>, agent: AgentDefinition): Promise<string> {
  const text = canonicalJson(agent);
  const hash = createHash('sha256').update(text).digest('hex');
  if ((await store.blob(hash)) === undefined) {
    await store.commit([{ type: 'put-blob', hash, value: plainSchema.parse(JSON.parse(text)) }]);
  }
  return hash;
}
