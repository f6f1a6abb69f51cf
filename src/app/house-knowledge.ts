import { createKnowledgeTable } from '../bitable/index.ts';
import type { LoadedConfig } from '../config/index.ts';
import type { FeishuClient } from '../feishu/index.ts';
import type { Knowledge } from '../functions/index.ts';
import type { Ports } from './ports.ts';

/**
 * The team's own documents: those of the folder, and the rows of `KNOWLEDGE_TABLE_ID` where it is set. The platform is
 * asked for at the first search only: the engine is built before it.
 */
export function houseKnowledge(
  config: LoadedConfig,
  ports: Pick<Ports, 'knowledge' | 'clock' | 'logger'>,
  platform: () => FeishuClient | undefined,
): Knowledge {
  const place = config.environment.knowledgeTable;
  if (place === undefined) return ports.knowledge;
  let table: Knowledge | undefined;
  const open = async (): Promise<Knowledge> => {
    const client = platform();
    if (client === undefined)
      throw new Error('KNOWLEDGE_TABLE_ID is set, but there are no credentials to read it with');
    const { base, tableId } = place;
    const appToken = base.kind === 'base' ? base.appToken : await resolveWiki(client, base.nodeToken);
    return createKnowledgeTable({ client, table: { appToken, tableId }, clock: ports.clock, logger: ports.logger });
  };
  return async () => {
    table ??= await open();
    const [folder, rows] = await Promise.all([ports.knowledge(), table()]);
    return [...folder, ...rows];
  };
}

async function resolveWiki(client: FeishuClient, nodeToken: string): Promise<string> {
  const resolved = await client.resolveBase(`wiki/${nodeToken}`);
  if (resolved.ok) return resolved.value;
  throw new Error(`the wiki page of KNOWLEDGE_TABLE_ID could not be read: ${resolved.failure.message}`);
}
