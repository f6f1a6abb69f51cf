import type { ExecutionStatus } from '../engine/ports/index.ts';
import { executionId } from '../kernel/index.ts';
import type { Hub } from './hub.ts';
import type { RowDocument } from './row-documents.ts';
import { withoutHeld } from './start-stage.ts';

const underWay: readonly (ExecutionStatus | undefined)[] = ['queued', 'running'];

/**
 * A row in 待核对 whose execution runs again, as it ought to be; undefined for any other row. The call was found, or somebody
 * gave their word on it: what staff type must not be taken for their word on the doubt that was.
 */
export async function goneOn(hub: Hub, row: RowDocument | undefined): Promise<RowDocument | undefined> {
  if (row?.status !== '待核对' || row.current === undefined) return undefined;
  const execution = await hub.deps.store.execution(executionId(row.current.executionId));
  return underWay.includes(execution?.status) ? withoutHeld({ ...row, status: '生成中' }) : undefined;
}
