import type { FeishuClient, RawRecord, TableRef } from '../feishu/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { readText } from './codec-read.ts';

/** The columns of a table of snippets; 内容 alone is needed. */
const columns = { heading: '标题', text: '内容', source: '来源' } as const;

/** So long a copy is good: searching a busy day must not cost a call each, and an edit is found soon enough. */
const refreshMs = 600_000;

/** A snippet of the team's own, as `knowledge.search` takes it. */
interface TableSnippet {
  readonly source: string;
  readonly text: string;
}

interface KnowledgeTableDeps {
  readonly client: Pick<FeishuClient, 'searchRecords'>;
  readonly table: TableRef;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Snippets that a team keeps in a Bitable, one a row, read as a whole and at most every ten minutes; who asks meanwhile
 * shares the read. While the platform cannot be read the last copy serves; without one it rejects, and the search says so.
 */
export function createKnowledgeTable(deps: KnowledgeTableDeps): () => Promise<readonly TableSnippet[]> {
  let copy: { readonly snippets: readonly TableSnippet[]; readonly dueMs: number } | undefined;
  let reading: Promise<readonly TableSnippet[]> | undefined;
  const read = async (): Promise<readonly TableSnippet[]> => {
    const found = await deps.client.searchRecords(deps.table, {});
    const dueMs = deps.clock.monotonicMs() + refreshMs;
    if (found.ok) {
      const snippets = found.value.flatMap(toSnippet);
      if (snippets.length === 0 && found.value.length > 0)
        deps.logger.warn('the table of knowledge has no text', { column: columns.text, rows: found.value.length });
      copy = { snippets, dueMs };
      return snippets;
    }
    const { code, message } = found.failure;
    deps.logger.warn('the table of knowledge could not be read', { code, message, hasCopy: copy !== undefined });
    if (copy === undefined) throw new Error(`the table of knowledge could not be read: ${code} ${message}`);
    return copy.snippets;
  };
  return async () => {
    if (copy !== undefined && deps.clock.monotonicMs() < copy.dueMs) return copy.snippets;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return await reading;
  };
}

function toSnippet({ fields, recordId }: RawRecord): readonly TableSnippet[] {
  const column = knowledgeColumns(Object.keys(fields));
  const cell = (name: string | undefined): string => (name === undefined ? '' : readText(fields[name]).trim());
  const text = cell(column.text);
  if (text === '') return [];
  const title = cell(column.heading).replace(/\s+/g, ' ');
  const source = cell(column.source);
  return [{ source: source === '' ? `知识表 ${recordId}` : source, text: title === '' ? text : `# ${title}\n${text}` }];
}

/** Which of a table's columns hold a snippet's parts. Names match after NFKC and trimming, as everywhere. */
export function knowledgeColumns(names: readonly string[]): Readonly<Record<keyof typeof columns, string | undefined>> {
  const named = (column: string): string | undefined => names.find((name) => name.normalize('NFKC').trim() === column);
  return { heading: named(columns.heading), text: named(columns.text), source: named(columns.source) };
}
