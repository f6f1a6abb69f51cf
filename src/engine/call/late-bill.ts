import { z } from 'zod';
import type { ReportedCost } from '../../contract/index.ts';
import { attemptId } from '../../kernel/index.ts';
import type { AttemptRecord, ChargeRecord, DocumentRecord, StoreCommand } from '../ports/index.ts';
import { priceAgain } from './charge.ts';
import { commitAnswer } from './commit.ts';
import { attemptEvent, chargeData } from './events.ts';
import { withLimit } from './limit.ts';
import type { Services } from './services.ts';

/**
 * Bills that come after the result. A vendor may tell a task's sum only minutes or hours after its end (kie's and toapis'
 * records are filled in later). Where the price table does not know it either, the charge is settled without a sum, and the
 * task is asked about again, by GET, at growing distances. What is told at last corrects the ledger; a vendor that never
 * tells is asked five times, and the charge stays marked for the monthly statement.
 *
 * A document stands for each such charge (`<due, 15 digits>/<attempt>`, so that the first are due first): it is written
 * with the settlement, and survives a crash.
 */
const collection = 'engine.late-bills';
const waitsMs = [5 * 60_000, 15 * 60_000, 3_600_000, 3 * 3_600_000, 12 * 3_600_000] as const;
const pageSize = 100;
const documentSchema = z.object({ asked: z.int().nonnegative() });

/** Goes into the settlement's commit. */
export function billMarker(
  services: Services,
  record: AttemptRecord,
  charge: ChargeRecord,
  at: number,
): readonly StoreCommand[] {
  const isOpen = charge.source === 'unpriced' || (charge.source === 'unknown' && record.state !== 'expired');
  if (!isOpen || charge.state !== 'settled' || record.handle === undefined) return [];
  if (services.adapter(record.provider, record.implementation)?.poll === undefined) return [];
  return putMarker(record, 0, at);
}

function putMarker(record: AttemptRecord, asked: number, at: number): readonly StoreCommand[] {
  const waitMs = waitsMs[asked];
  if (waitMs === undefined) return [];
  const key = `${String(at + waitMs).padStart(15, '0')}/${record.id}`;
  return [{ type: 'put-document', record: { collection, key, value: { asked }, updatedAt: at } }];
}

/** Asks about every task that is due; `isOurs` is false where another worker watches it. */
export async function askForLateBills(
  services: Services,
  isOurs: (record: AttemptRecord) => Promise<boolean>,
): Promise<void> {
  const { store, clock } = services.deps;
  let after: string | undefined;
  for (;;) {
    const page = await store.documents(collection, { limit: pageSize, ...(after === undefined ? {} : { after }) });
    for (const document of page) {
      if (services.isStopping() || Number(document.key.split('/')[0]) > clock.nowMs()) return;
      const record = await store.attempt(attemptId(document.key.split('/')[1] ?? ''));
      if (record === undefined || (await isOurs(record))) await askOnce(services, document, record);
    }
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
}

async function askOnce(services: Services, document: DocumentRecord, record: AttemptRecord | undefined): Promise<void> {
  const forget: StoreCommand = { type: 'delete-document', collection, key: document.key };
  const read = documentSchema.safeParse(document.value);
  const charge = record === undefined ? undefined : (await services.deps.store.chargesOfAttempt(record.id))[0];
  if (record === undefined || charge === undefined || !read.success || charge.source === 'vendor') {
    await commitAnswer(services, [forget]);
    return;
  }
  const told = await askVendor(services, record);
  if (services.signal.aborted) return;
  const at = services.deps.clock.nowMs();
  if (told?.amount === undefined) {
    await commitAnswer(services, [forget, ...putMarker(record, read.data.asked + 1, at)]);
    return;
  }
  const corrected: ChargeRecord = { ...charge, ...priceAgain(services, record, told), settledAt: at };
  const isWritten = await commitAnswer(services, [
    { type: 'put-charge', record: corrected, correction: true },
    attemptEvent(record, at, 'charge-settled', chargeData(corrected)),
    forget,
  ]);
  if (isWritten) services.budgets.note(charge, corrected.cnyMicros - charge.cnyMicros);
}

/** Undefined where it could not be asked, or does not say. */
async function askVendor(services: Services, record: AttemptRecord): Promise<ReportedCost | undefined> {
  const { clock, settings } = services.deps;
  const adapter = services.adapter(record.provider, record.implementation);
  const { handle } = record;
  if (adapter?.poll === undefined || handle === undefined) return undefined;
  const poll = adapter.poll.bind(adapter);
  const limitMs = settings.timeouts.query + 10_000;
  const answer = await withLimit(clock, limitMs, services.signal, (signal) => poll(handle, signal));
  return answer.kind === 'answered' && 'cost' in answer.value ? answer.value.cost : undefined;
}
