import type { Client } from 'pg';
import type { Logger } from '../../kernel/index.ts';
import { repairAttempts, repairExecutions } from '../shared/repair.ts';

/** See `shared/repair.ts`: words that this version does not know become "in doubt" (P149). */
export async function repairUnknownWords(client: Client, logger: Logger): Promise<void> {
  const executions = (await client.query(repairExecutions)).rowCount ?? 0;
  const attempts = (await client.query(repairAttempts)).rowCount ?? 0;
  if (executions + attempts > 0) logger.warn('unknown status words were read as in doubt', { executions, attempts });
}
