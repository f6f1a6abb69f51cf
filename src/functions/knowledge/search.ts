import { z } from 'zod';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { ok } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';
import { type KnowledgeDocument, rankSnippets, splitDocument } from './rank.ts';

/** Where the team's documents come from: a folder of Markdown, a Bitable of snippets. Read anew for each search. */
export type Knowledge = () => Promise<readonly KnowledgeDocument[]>;

const input = z.strictObject({ query: z.string().min(1), limit: z.int().min(1).max(20).optional() });

/**
 * `knowledge.search {query, limit?}` → `{hits: [{source, title, text, score}], text}`. No vendor and no index on disk: the
 * documents of a team are small, and what a person just edited is found at once.
 */
export function createKnowledgeSearch(knowledge: Knowledge): NodeFunction {
  return defineFunction('knowledge.search', input, async ({ query, limit }) => {
    const documents = await knowledge();
    const snippets = documents.flatMap(splitDocument);
    const hits = rankSnippets(snippets, query, limit ?? 5);
    const text = hits.map((hit, index) => `[${index + 1}] ${hit.title}（${hit.source}）\n${hit.text}`).join('\n\n');
    return ok({ hits: hits.map((hit) => ({ ...hit })), text });
  });
}
