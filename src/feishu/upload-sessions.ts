import { z } from 'zod';
import { type Clock, isJsonObject, type JsonObject, ok } from '../kernel/index.ts';
import type { FeishuResult } from './client.ts';

/** Where begun uploads are remembered over a restart; a thin wrapper over store documents. */
export interface UploadSessions {
  load(key: string): Promise<JsonObject | undefined>;
  save(key: string, value: JsonObject): Promise<void>;
  remove(key: string): Promise<void>;
}

/** An upload in parts that is under way. */
export interface Session {
  readonly uploadId: string;
  readonly blockBytes: number;
  readonly blocks: number;
  /** The first part that is not known to have arrived. */
  nextSeq(): number;
  /** Part `seq` has arrived. */
  sent(seq: number): Promise<void>;
  /** It is finished, or cannot be gone on with. */
  forget(): Promise<void>;
}

/** The platform keeps an upload id for 24 hours; an hour is left for the rest of the upload. */
const maxAgeMs = 23 * 3_600_000;

const storedSchema = z.object({
  uploadId: z.string(),
  blockBytes: z.int().positive(),
  blocks: z.int().positive(),
  nextSeq: z.int().nonnegative(),
  beganAt: z.number(),
});

/** Goes on with the remembered session of `key`, or begins one. What is stored and cannot be read is begun anew. */
export async function openSession(options: {
  readonly clock: Clock;
  readonly sessions: UploadSessions | undefined;
  readonly key: string | undefined;
  readonly how: 'may-resume' | 'anew';
  readonly prepare: () => Promise<
    FeishuResult<{ readonly uploadId: string; readonly blockBytes: number; readonly blocks: number }>
  >;
}): Promise<FeishuResult<Session>> {
  const { clock, key } = options;
  const sessions = key === undefined ? undefined : options.sessions;
  const stored = options.how === 'anew' ? undefined : await sessions?.load(key ?? '');
  const parsed = isJsonObject(stored) ? storedSchema.safeParse(stored) : undefined;
  const isUsable = parsed?.success === true && clock.nowMs() - parsed.data.beganAt < maxAgeMs;
  if (isUsable) return ok(sessionOf(parsed.data, sessions, key ?? ''));
  const begun = await options.prepare();
  if (!begun.ok) return begun;
  const state = { ...begun.value, nextSeq: 0, beganAt: clock.nowMs() };
  await sessions?.save(key ?? '', state);
  return ok(sessionOf(state, sessions, key ?? ''));
}

function sessionOf(state: z.infer<typeof storedSchema>, sessions: UploadSessions | undefined, key: string): Session {
  let { nextSeq } = state;
  return {
    uploadId: state.uploadId,
    blockBytes: state.blockBytes,
    blocks: state.blocks,
    nextSeq: () => nextSeq,
    sent: async (seq) => {
      nextSeq = seq + 1;
      await sessions?.save(key, { ...state, nextSeq });
    },
    forget: async () => {
      await sessions?.remove(key);
    },
  };
}
