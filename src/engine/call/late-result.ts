import type { StoreCommand } from '../ports/index.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent } from './events.ts';
import type { Services } from './services.ts';
import type { LiveAttempt } from './types.ts';
import { collectMedia } from './use-output.ts';

export const lateCollection = 'engine.late';

/** Goes into the commit of a settlement that nobody waits for any more: the telling survives a crash. */
export function lateMarker(live: LiveAttempt, at: number): StoreCommand {
  return {
    type: 'put-document',
    record: { collection: lateCollection, key: live.record.id, value: {}, updatedAt: at },
  };
}

/**
 * A paid result whose execution is over: fetched while it can be, kept on its attempt (a later execution with the same
 * inputs uses it without paying), and told outside.
 */
export async function tellLateResult(services: Services, live: LiveAttempt): Promise<void> {
  const { record } = live;
  const { deps } = services;
  const forget: StoreCommand = { type: 'delete-document', collection: lateCollection, key: record.id };
  if (record.state !== 'succeeded' || record.output === undefined) {
    await commitAnswer(services, [forget]);
    return;
  }
  const collected = await collectMedia(services, record.output, `${record.nodePath}-${record.ordinal}-late`);
  const output = collected.ok ? collected.value : record.output;
  const kept = { ...record, output };
  const at = deps.clock.nowMs();
  const isWritten = await commitAnswer(services, [
    { type: 'put-attempt', record: kept, expected: ['succeeded'] },
    attemptEvent(record, at, 'late-result', collected.ok ? {} : { failure: { ...collected.failure } }),
    {
      type: 'append-outbox',
      entry: {
        at,
        executionId: record.executionId,
        sourceRef: record.sourceRef,
        generation: record.generation,
        message: { kind: 'late-result', attemptId: record.id, nodePath: record.nodePath, output },
      },
    },
    forget,
  ]);
  if (isWritten) live.record = kept;
}
