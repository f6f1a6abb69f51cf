import { knowledgeColumns } from '../../bitable/index.ts';
import type { LoadedConfig } from '../../config/index.ts';
import {
  type AppPlace,
  checkBase,
  checkRead,
  checkTable,
  type FeishuClient,
  type FeishuInspection,
} from '../../feishu/index.ts';
import { fault, type Finding, fine, placed } from './finding.ts';

export interface KnowledgeTableCheck {
  readonly knowledge: NonNullable<LoadedConfig['environment']['knowledgeTable']>;
  readonly client: FeishuClient & FeishuInspection;
  readonly place: AppPlace;
  readonly signal: AbortSignal;
}

const of = 'knowledge';

/** The table of `KNOWLEDGE_TABLE_ID`: its base, the table in it, the column of texts, a search. Nothing is written to it. */
export async function checkKnowledgeTable(check: KnowledgeTableCheck): Promise<readonly Finding[]> {
  const { client, place, signal } = check;
  const { base: written, tableId } = check.knowledge;
  const token = written.kind === 'base' ? written.appToken : `wiki/${written.nodeToken}`;
  const { diagnosis, base } = await checkBase(client, token, place, signal);
  if (base === undefined) return [placed(diagnosis, of)];
  const table = { appToken: base.appToken, tableId };
  const seen = await checkTable(client, table, place, signal);
  if (seen.fields === undefined) return [placed(seen.diagnosis, of)];
  const { text, heading, source } = knowledgeColumns(seen.fields.map(({ name }) => name));
  if (text === undefined) {
    const remedy = 'add a text column 内容, or let KNOWLEDGE_TABLE_ID name the table that has one';
    return [placed(seen.diagnosis, of), fault('columns', 'not there: 内容, so nothing can be found in it', remedy, of)];
  }
  const known = [heading, text, source].filter((name) => name !== undefined);
  const columns = fine('columns', `snippets are read from ${known.join(' ')}`, of);
  return [placed(seen.diagnosis, of), columns, placed(await checkRead(client, table, text, place), of)];
}
