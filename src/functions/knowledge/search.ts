import { z } from 'zod';
import type { Failure } from '../../contract/index.ts';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';
import { indexDocument, type IndexedSnippet, type KnowledgeDocument, rankSnippets } from './rank.ts';

/** Where the team's documents come from: a folder of Markdown, a Bitable of snippets. Asked for each search; may reject. */
export type Knowledge = () => Promise<readonly KnowledgeDocument[]>;

const input = z.strictObject({ query: z.string().min(1), limit: z.int().min(1).max(20).optional() });

/**
 * `knowledge.search {query, limit?}` → `{hits: [{source, title, text, score}], text}`. No vendor and no index on disk: what a
 * person just edited is found at once, and only the texts that changed since the last search are split and counted anew.
 * Why this and not FTS5: `docs/decisions/021-knowledge-search.md`.
 */
export function createKnowledgeSearch(knowledge: Knowledge): NodeFunction {
  let known: Index = new Map();
  return defineFunction('knowledge.search', input, async ({ query, limit }) => {
    const documents = await readAll(knowledge);
    if (!documents.ok) return documents;
    known = refresh(known, documents.value);
    const snippets = [...known.values()].flat();
    const hits = rankSnippets(snippets, query, limit ?? 5);
    const text = hits.map((hit, index) => `[${index + 1}] ${hit.title}（${hit.source}）\n${hit.text}`).join('\n\n');
    return ok({ hits: hits.map((hit) => ({ ...hit })), text });
  });
}

/** Writing without the team's own facts would go unnoticed, so a search that cannot read them fails in words. */
async function readAll(knowledge: Knowledge): Promise<Result<readonly KnowledgeDocument[], Failure>> {
  try {
    return ok(await knowledge());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const advice = '团队知识库暂时读不到，请稍后再选「提交」；一直如此请联系管理员。';
    return fail({ kind: 'unavailable', code: 'knowledge', message, advice });
  }
}

/** Snippets by source and text of the document that they were cut from. */
type Index = ReadonlyMap<string, readonly IndexedSnippet[]>;

/** What there is now; the snippets of documents that are as they were are taken over. */
function refresh(known: Index, documents: readonly KnowledgeDocument[]): Index {
  const current = new Map<string, readonly IndexedSnippet[]>();
  for (const document of documents) {
    const key = `${document.source}\n${document.text}`;
    current.set(key, known.get(key) ?? indexDocument(document));
  }
  return current;
}
