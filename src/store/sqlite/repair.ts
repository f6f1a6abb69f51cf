import type { Logger } from '../../kernel/index.ts';
import { isOpenAttempt, isOpenExecution } from '../shared/reads.ts';
import type { Connection } from './open.ts';

/**
 * Status words that this version does not know (an older or newer version, an edit by hand) become "in doubt" when the
 * file is opened, so that nothing is forgotten and nothing is done blindly (P149): an execution is held, a call unknown.
 * Both conditions are those of the partial indexes, so that only what goes on is looked at.
 */
export function repairUnknownWords(connection: Connection, logger: Logger): void {
  const executions = connection
    .prepare(
      `UPDATE executions SET status = 'held' WHERE ${isOpenExecution} AND status NOT IN ('queued', 'running', 'held')`,
    )
    .run().changes;
  const attempts = connection
    .prepare(
      `UPDATE attempts SET state = 'unknown'
       WHERE ${isOpenAttempt} AND state NOT IN ('intended', 'accepted', 'unknown', 'overdue')`,
    )
    .run().changes;
  if (executions + attempts > 0) logger.warn('unknown status words were read as in doubt', { executions, attempts });
}
