/** A document of the team's own. */
export interface KnowledgeDocument {
  readonly source: string;
  readonly text: string;
}

export interface Snippet {
  readonly source: string;
  readonly title: string;
  readonly text: string;
}

/** A snippet with its terms counted: the costly part, done once for a text. */
export interface IndexedSnippet {
  readonly snippet: Snippet;
  readonly terms: Terms;
}

interface Terms {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
}

export interface Hit extends Snippet {
  readonly score: number;
}

/** Longest text of one snippet; longer parts are cut at paragraphs. */
const maxSnippetChars = 800;

/** A document's snippets, ready to be searched. */
export function indexDocument(document: KnowledgeDocument): readonly IndexedSnippet[] {
  return splitDocument(document).map((snippet) => ({
    snippet,
    terms: countTerms(`${snippet.title} ${snippet.text}`),
  }));
}

/** A Markdown document in parts, one a heading. */
function splitDocument(document: KnowledgeDocument): readonly Snippet[] {
  const parts = document.text.split(/^(?=#{1,4} )/m);
  return parts.flatMap((part) => {
    const heading = /^#{1,4} (.+)$/m.exec(part)?.[1]?.trim();
    const body = part.replace(/^#{1,4} .+$/m, '').trim();
    return cutAtParagraphs(body).map((text) => ({ source: document.source, title: heading ?? document.source, text }));
  });
}

function cutAtParagraphs(body: string): readonly string[] {
  const pieces: string[] = [];
  for (const paragraph of body.split(/\n\s*\n/).map((text) => text.trim())) {
    if (paragraph === '') continue;
    const last = pieces.at(-1);
    if (last !== undefined && last.length + paragraph.length < maxSnippetChars)
      pieces[pieces.length - 1] = `${last}\n\n${paragraph}`;
    else pieces.push(paragraph.slice(0, maxSnippetChars));
  }
  return pieces;
}

/** BM25 over words and, for Chinese, pairs of characters; the usual constants. */
export function rankSnippets(indexed: readonly IndexedSnippet[], query: string, limit: number): readonly Hit[] {
  const saturation = 1.2;
  const lengthWeight = 0.75;
  const averageLength = indexed.reduce((sum, { terms }) => sum + terms.total, 0) / Math.max(1, indexed.length);
  const wanted = [...countTerms(query).counts.keys()].map((term) => {
    const holders = indexed.filter(({ terms }) => terms.counts.has(term)).length;
    return { term, rarity: Math.log(1 + (indexed.length - holders + 0.5) / (holders + 0.5)) };
  });
  const scored = indexed.map(({ snippet, terms }) => {
    let score = 0;
    for (const { term, rarity } of wanted) {
      const frequency = terms.counts.get(term) ?? 0;
      if (frequency === 0) continue;
      const length = 1 - lengthWeight + (lengthWeight * terms.total) / Math.max(1, averageLength);
      score += (rarity * frequency * (saturation + 1)) / (frequency + saturation * length);
    }
    return { ...snippet, score: Math.round(score * 1000) / 1000 };
  });
  return scored
    .filter((hit) => hit.score > 0)
    .sort((left, right) => right.score - left.score || (left.source < right.source ? -1 : 1))
    .slice(0, limit);
}

function countTerms(text: string): Terms {
  const counts = new Map<string, number>();
  const add = (term: string): void => {
    counts.set(term, (counts.get(term) ?? 0) + 1);
  };
  for (const run of text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[a-z0-9]+|\p{Script=Han}+/gu) ?? []) {
    if (!/\p{Script=Han}/u.test(run)) add(run);
    else if (run.length === 1) add(run);
    else for (let at = 0; at + 1 < run.length; at += 1) add(run.slice(at, at + 2));
  }
  return { counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0) };
}
