import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { StoreCommand } from '../engine/ports/index.ts';
import type { FeishuFailure } from '../feishu/index.ts';
import type { TableSideDeps } from './deps.ts';
import { messageGatherMs } from './pace.ts';
import { collections, putDocument } from './row-documents.ts';
import { createDoorbell } from './signal.ts';

/**
 * Words for people, durable and never doubled. A message is a document, written in the same commit as what it tells of;
 * its key says what that is, so telling it again after a crash is the same message. What waits for one receiver is merged
 * into one text with one uuid, both fixed before it is sent: a repeat after a crash is dropped by the platform (1 h). Only a
 * refusal gives a message up (to the group, else to the row alone); while the platform is away, throttles or has no quota
 * left, what waits for a receiver stays in order.
 */
export interface Messenger {
  /** The command that makes a message; commit it with what it tells of, then `ring`. */
  put(message: NewMessage): StoreCommand;
  ring(): void;
  /** Whether a hint can reach anyone; else it belongs into 提示. */
  canReach(submitter: string): boolean;
  /** Sends what waits; resolves when nothing is left that can be sent now. */
  flush(): Promise<void>;
  run(): Promise<void>;
}

export interface NewMessage {
  /** What it tells of: `end/<outbox seq>`, `hint/<command id>`. */
  readonly key: string;
  /** Open id, or empty. */
  readonly submitter: string;
  readonly text: string;
}

const messageDocument = z.object({
  to: z.string(),
  text: z.string(),
  at: z.number(),
  /** Fixed when a send is about to be tried: the messages that share it are one text. */
  batch: z.string().optional(),
});
type MessageDocument = z.infer<typeof messageDocument>;

interface Waiting {
  readonly key: string;
  readonly value: MessageDocument;
}

const hourMs = 3_600_000;
/** What waits is tried again after so long, doubled while nothing goes out. */
const retryMs = 30_000;
const maxRetryMs = 10 * 60_000;
/** A message that only met passing failures for so long is given up: the row says the same. */
const giveUpAfterMs = 72 * hourMs;
/** A person who could not be written to is tried again after so long. */
const unreachableMs = 24 * hourMs;
const maxLines = 30;
/** The platform's own trouble, or the installation's: no fault of the message or its receiver. */
const passingClasses: readonly FeishuFailure['class'][] = [
  'retry',
  'throttled',
  'conflict',
  'quota',
  'credential',
  'config',
];

export function createMessenger(deps: TableSideDeps, signal: AbortSignal): Messenger {
  const { store, clock, client, logger } = deps;
  const bell = createDoorbell(clock);
  /** Until when, by open id. */
  const unreachable = new Map<string, number>();
  const group = deps.alertChatId ?? '';
  const collection = deps.messageCollection ?? collections.message;

  const receiverOf = (submitter: string): string => {
    const isReachable = (unreachable.get(submitter) ?? 0) <= clock.monotonicMs();
    if (isOpenId(submitter) && isReachable) return `open:${submitter}`;
    return group === '' ? '' : `chat:${group}`;
  };
  const waiting = async (): Promise<readonly Waiting[]> => {
    const records = await store.documents(collection, {});
    return records
      .map((record) => ({ key: record.key, value: messageDocument.parse(record.value) }))
      .sort((left, right) => left.value.at - right.value.at);
  };
  /** False: a passing failure, the batch waits. */
  const sendBatch = async (batch: string, members: readonly Waiting[]): Promise<boolean> => {
    const [first] = members;
    if (first === undefined) return true;
    const { to, at } = first.value;
    const target = to.startsWith('open:') ? { openId: to.slice(5) } : { chatId: to.slice(5) };
    const answer = await client.sendText(target, joinTexts(members.map((member) => member.value.text)), batch, signal);
    if (answer.ok) {
      await store.commit(members.map((member) => remove(member)));
      return true;
    }
    const { failure } = answer;
    const isRefused = isRefusal(failure);
    const isGivenUp = isRefused || clock.nowMs() - at > giveUpAfterMs;
    logger.warn('a message could not be sent', { code: failure.code, class: failure.class, isGivenUp });
    if (!isGivenUp) return false;
    if (isRefused && to.startsWith('open:')) unreachable.set(to.slice(5), clock.monotonicMs() + unreachableMs);
    await store.commit(members.map((member) => elsewhere(member)));
    return true;
  };
  const remove = ({ key }: Waiting): StoreCommand => ({ type: 'delete-document', collection, key });
  /** The group instead of the person; without one the row alone says it. */
  const elsewhere = (member: Waiting): StoreCommand => {
    const { text, at, to } = member.value;
    if (!to.startsWith('open:') || group === '') return remove(member);
    return putDocument(clock, collection, member.key, { text, at, to: `chat:${group}` });
  };
  /** What waits for one receiver, in order: what was fixed before, then the rest as one text. False: all of it waits. */
  const sendAll = async (messages: readonly Waiting[]): Promise<boolean> => {
    const batches = Map.groupBy(messages, (message) => message.value.batch ?? '');
    const fresh = batches.get('') ?? [];
    batches.delete('');
    for (const [batch, members] of batches) if (!(await sendBatch(batch, members))) return false;
    if (fresh.length === 0) return true;
    const batch = batchId(fresh.map((member) => member.key));
    const fixed = fresh.map((member) => ({ key: member.key, value: { ...member.value, batch } }));
    await store.commit(fixed.map((member) => putDocument(clock, collection, member.key, member.value)));
    return await sendBatch(batch, fixed);
  };
  const flush = async (): Promise<void> => {
    for (let round = 0; round < 20 && !signal.aborted; round += 1) {
      const all = await waiting();
      if (all.length === 0) return;
      let isStuck = false;
      for (const messages of Map.groupBy(all, (message) => message.value.to).values()) {
        if (!(await sendAll(messages))) isStuck = true;
      }
      if (isStuck) return;
    }
  };
  /** Whether nothing is left afterwards. */
  const sendAndLook = async (): Promise<boolean> => {
    await flush();
    return (await store.documents(collection, { limit: 1 })).length === 0;
  };
  return {
    put: (message) =>
      putDocument(clock, collection, message.key, {
        to: receiverOf(message.submitter),
        text: message.text,
        at: clock.nowMs(),
      }),
    ring: () => bell.ring(),
    canReach: (submitter) => receiverOf(submitter) !== '',
    flush,
    run: async () => {
      let waitMs = retryMs;
      let failures = 0;
      while (!signal.aborted) {
        await bell.wait(waitMs, signal);
        await createDoorbell(clock).wait(messageGatherMs(deps.engine.activity().driving), signal);
        const isIdle = await sendAndLook().catch((error: unknown) => {
          if (!signal.aborted) logger.warn('messages could not be sent', { error });
          return false;
        });
        failures = isIdle ? 0 : failures + 1;
        waitMs = isIdle ? Number.POSITIVE_INFINITY : Math.min(maxRetryMs, retryMs * 2 ** Math.min(10, failures - 1));
      }
    },
  };
}

function isOpenId(text: string): boolean {
  return text.startsWith('ou_');
}

/** Refused for what it says or for whom it is; whatever else failed passes. */
function isRefusal(failure: FeishuFailure): boolean {
  return failure.outcome === 'refused' && !passingClasses.includes(failure.class);
}

/** At most 50 characters, the same for the same messages. */
function batchId(keys: readonly string[]): string {
  return createHash('sha256').update(keys.join('\n')).digest('hex').slice(0, 40);
}

/** One text of several messages; a long list is told by its number. */
function joinTexts(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  const shown = unique.slice(0, maxLines);
  const rest = unique.length - shown.length;
  return [...shown, ...(rest > 0 ? [`……另有 ${rest} 条，请看表格。`] : [])].join('\n');
}
