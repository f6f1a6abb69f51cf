import type { Logger } from '../../kernel/index.ts';
import { repairAttempts, repairExecutions } from '../shared/repair.ts';
import type { Connection } from './open.ts';

/** See `shared/repair.ts`: words that this version does not know become "in doubt" (P149). */
export function repairUnknownWords(connection: Connection, logger: Logger): void {
  const executions = connection.prepare(repairExecutions).run().changes;
  const attempts = connection.prepare(repairAttempts).run().changes;
  if (executions + attempts > 0) logger.warn('unknown status words were read as in doubt', { executions, attempts });
}
