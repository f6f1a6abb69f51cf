import { formatMicros } from '../../kernel/index.ts';
import { withLimit } from './limit.ts';
import type { Services } from './services.ts';
import { settleAttempt } from './settle.ts';
import type { LiveAttempt } from './types.ts';

/**
 * Asks the vendor to stop a task. Where it cannot or does not answer, the task goes on and is watched for its bill; what
 * it still delivers is kept and told.
 */
export async function cancelAtVendor(services: Services, live: LiveAttempt): Promise<void> {
  const { record } = live;
  const adapter = services.adapter(record.provider, record.implementation);
  if (adapter?.cancel === undefined || record.handle === undefined) return;
  const cancel = adapter.cancel.bind(adapter);
  const { handle } = record;
  const limitMs = services.deps.settings.timeouts.query + 10_000;
  const answer = await withLimit(services.deps.clock, limitMs, services.signal, (signal) => cancel(handle, signal));
  if (answer.kind !== 'answered' || answer.value.kind !== 'canceled') {
    const charge = live.charge ?? (await services.deps.store.chargesOfAttempt(record.id))[0];
    services.deps.logger.info('the vendor could not cancel a task', {
      attemptId: record.id,
      atRiskCny: formatMicros(charge?.cnyMicros ?? 0, 4),
    });
    return;
  }
  services.watcher.forget(live);
  await settleAttempt(services, live, { state: 'canceled', cost: answer.value.cost });
}
