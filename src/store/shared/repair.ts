import { isOpenAttempt, isOpenExecution } from './reads.ts';

/**
 * Status words that this version does not know (an older or newer version, an edit by hand) become "in doubt" when the
 * store is opened, so that nothing is forgotten and nothing is done blindly (P149): an execution is held, a call unknown.
 * Both conditions are those of the partial indexes, so that only what goes on is looked at.
 */
export const repairExecutions = `UPDATE executions SET status = 'held'
  WHERE ${isOpenExecution} AND status NOT IN ('queued', 'running', 'held')`;
export const repairAttempts = `UPDATE attempts SET state = 'unknown'
  WHERE ${isOpenAttempt} AND state NOT IN ('intended', 'accepted', 'unknown', 'overdue')`;
