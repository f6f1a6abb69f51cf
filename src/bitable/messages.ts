import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { StoreCommand } from '../engine/ports/index.ts';
import type { TableSideDeps } from './deps.ts';
import { messageGatherMs } from './pace.ts';
import { collections, putDocument } from './row-documents.ts';
import { createDoorbell } from './signal.ts';

/**
 * Words for people, durable and never doubled. A message is a document, written in the same commit as what it tells of;
 * its key says what that is, so telling it again after a crash is the same message. What waits for one receiver is merged
 * into one text with one uuid, both fixed before it is sent: a repeat after a crash is dropped by the platform (1 h).
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
  tries: z.int().default(0),
});
type MessageDocument = z.infer<typeof messageDocument>;

const retryMs = 30_000;
/** After so many refusals the message is dropped: the row says the same. */
const maxTries = 5;
const maxLines = 30;

export function createMessenger(deps: TableSideDeps, signal: AbortSignal): Messenger {
  const { store, clock, client, logger } = deps;
  const bell = createDoorbell(clock);
  const unreachable = new Set<string>();
  const group = deps.alertChatId ?? '';
  const collection = deps.messageCollection ?? collections.message;

  const receiverOf = (submitter: string): string => {
    if (isOpenId(submitter) && !unreachable.has(submitter)) return `open:${submitter}`;
    return group === '' ? '' : `chat:${group}`;
  };
  const waiting = async (): Promise<readonly { key: string; value: MessageDocument }[]> => {
    const records = await store.documents(collection, {});
    return records
      .map((record) => ({ key: record.key, value: messageDocument.parse(record.value) }))
      .sort((left, right) => left.value.at - right.value.at);
  };
  const sendBatch = async (
    batch: string,
    members: readonly { key: string; value: MessageDocument }[],
  ): Promise<boolean> => {
    const [first] = members;
    if (first === undefined) return true;
    const { to } = first.value;
    const target = to.startsWith('open:') ? { openId: to.slice(5) } : { chatId: to.slice(5) };
    const answer = await client.sendText(target, joinTexts(members.map((member) => member.value.text)), batch, signal);
    const isRefused = !answer.ok && answer.failure.outcome === 'refused' && !isPassing(answer.failure.class);
    if (answer.ok || isRefused || first.value.tries + 1 >= maxTries) {
      await store.commit(members.flatMap((member) => afterSend(member, answer.ok)));
      if (!answer.ok) logger.warn('a message could not be sent', { code: answer.failure.code });
      return true;
    }
    await store.commit(
      members.map((member) =>
        putDocument(clock, collection, member.key, { ...member.value, tries: member.value.tries + 1 }),
      ),
    );
    return false;
  };
  const afterSend = (member: { key: string; value: MessageDocument }, isSent: boolean): StoreCommand[] => {
    const remove: StoreCommand = { type: 'delete-document', collection, key: member.key };
    const isPerson = member.value.to.startsWith('open:');
    if (isPerson && !isSent) unreachable.add(member.value.to.slice(5));
    if (isSent || !isPerson || group === '') return [remove];
    const { text, at } = member.value;
    return [putDocument(clock, collection, member.key, { text, at, to: `chat:${group}`, tries: 0 })];
  };
  const flush = async (): Promise<void> => {
    if (signal.aborted) return;
    for (let round = 0; round < 20; round += 1) {
      const all = await waiting();
      const batches = Map.groupBy(all, (message) => message.value.batch ?? '');
      const fresh = batches.get('') ?? [];
      batches.delete('');
      for (const [to, members] of Map.groupBy(fresh, (message) => message.value.to)) {
        const batch = batchId(members.map((member) => member.key));
        const fixed = members.map((member) => ({ key: member.key, value: { ...member.value, to, batch } }));
        await store.commit(fixed.map((member) => putDocument(clock, collection, member.key, member.value)));
        batches.set(batch, fixed);
      }
      if (batches.size === 0) return;
      let stuck = false;
      for (const [batch, members] of batches) if (!(await sendBatch(batch, members))) stuck = true;
      if (stuck) return;
    }
  };
  return {
    put: (message) =>
      putDocument(clock, collection, message.key, {
        to: receiverOf(message.submitter),
        text: message.text,
        at: clock.nowMs(),
        tries: 0,
      }),
    ring: () => bell.ring(),
    canReach: (submitter) => receiverOf(submitter) !== '',
    flush,
    run: async () => {
      let isIdle = false;
      while (!signal.aborted) {
        await bell.wait(isIdle ? Number.POSITIVE_INFINITY : retryMs, signal);
        await createDoorbell(clock).wait(messageGatherMs(deps.engine.activity().driving), signal);
        await flush().catch((error: unknown) => logger.warn('messages could not be sent', { error }));
        isIdle = (await store.documents(collection, { limit: 1 })).length === 0;
      }
    },
  };
}

function isOpenId(text: string): boolean {
  return text.startsWith('ou_');
}

function isPassing(kind: string): boolean {
  return kind === 'retry' || kind === 'throttled' || kind === 'conflict' || kind === 'quota' || kind === 'credential';
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
