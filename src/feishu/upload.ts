import { z } from 'zod';
import { type Clock, fail, type IdSource, ok } from '../kernel/index.ts';
import { adler32 } from './adler32.ts';
import type { Call } from './caller.ts';
import type { FeishuClient, FeishuFailure, FeishuResult, UploadSource } from './client.ts';
import { localFailure, readData } from './failure.ts';
import { cleanFileName } from './file-name.ts';
import type { MediaGate } from './media-gate.ts';
import { createFormBuffer, type FormBuffer } from './multipart.ts';
import type { UploadSessions } from './upload-sessions.ts';
import { openSession, type Session } from './upload-sessions.ts';

/** The largest file that goes up in one piece, as the platform sets it. */
const maxSinglePartBytes = 20 * 1024 * 1024;

export interface UploadDeps {
  readonly call: Call;
  readonly gate: MediaGate;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly sessions: UploadSessions | undefined;
}

/** One file on its way up. */
interface Upload {
  readonly appToken: string;
  readonly source: UploadSource;
  readonly fileName: string;
  readonly signal: AbortSignal | undefined;
}

const tokenSchema = z.looseObject({ file_token: z.string().min(1) });

/**
 * Uploads into a base (`bitable_file`, the base itself as parent: a token is good there only). Uploads wait for each other,
 * since the platform allows no two at a time; at most one buffer of 20 MiB (one piece) or two of a part live at once.
 */
export function createUpload(deps: UploadDeps): FeishuClient['uploadMedia'] {
  return async (appToken, source, signal) => {
    if (source.sizeBytes <= 0)
      return fail(localFailure('invalid', `"${source.name}" is empty; there is nothing to upload`));
    const upload: Upload = { appToken, source, fileName: cleanFileName(source.name), signal };
    try {
      return await deps.gate.exclusively(
        () => (source.sizeBytes <= maxSinglePartBytes ? inOnePiece(deps, upload) : inParts(deps, upload)),
        signal,
      );
    } catch (error) {
      const words = error instanceof Error ? error.message : 'failed';
      return fail(localFailure('retry', `upload of "${upload.fileName}": ${words}`));
    }
  };
}

const parentOf = (upload: Upload): { file_name: string; parent_type: string; parent_node: string; size: number } => ({
  file_name: upload.fileName,
  parent_type: 'bitable_file',
  parent_node: upload.appToken,
  size: upload.source.sizeBytes,
});

async function inOnePiece(deps: UploadDeps, upload: Upload): Promise<FeishuResult<string>> {
  const { sizeBytes } = upload.source;
  const form = createFormBuffer(sizeBytes, boundaryOf(deps.ids));
  await readPart(upload.source, form, 0, sizeBytes);
  const checksum = adler32(form.file);
  const answer = await deps.call('media.upload-all', {
    bytes: () => form.seal({ ...parentOf(upload), checksum }, upload.fileName, sizeBytes),
    signal: upload.signal,
  });
  if (!answer.ok) return answer;
  const data = readData('media.upload-all', tokenSchema, answer.value.body);
  return data.ok ? ok(data.value.file_token) : data;
}

/** A session whose id has run out, or whose parts do not add up, is begun anew from the kept bytes, once. */
async function inParts(deps: UploadDeps, upload: Upload): Promise<FeishuResult<string>> {
  const first = await withSession(deps, upload, 'may-resume');
  if (first.ok || !isSpent(first.failure)) return first;
  return withSession(deps, upload, 'anew');
}

const spentCodes: ReadonlySet<number> = new Set([1061021, 1062007, 1062010, 1062011]);

function isSpent(failure: FeishuFailure): boolean {
  return spentCodes.has(failure.code);
}

async function withSession(
  deps: UploadDeps,
  upload: Upload,
  how: 'may-resume' | 'anew',
): Promise<FeishuResult<string>> {
  const key = upload.source.resumeKey === undefined ? undefined : `${upload.appToken}/${upload.source.resumeKey}`;
  const opened = await openSession({
    clock: deps.clock,
    sessions: deps.sessions,
    key,
    how,
    prepare: () => prepare(deps, upload),
  });
  if (!opened.ok) return opened;
  const session = opened.value;
  const sent = await sendParts(deps, upload, session);
  const done = sent.ok ? await finish(deps, upload, session) : sent;
  if (done.ok || isSpent(done.failure)) await session.forget();
  return done;
}

const prepareSchema = z.looseObject({
  upload_id: z.string().min(1),
  block_size: z.int().positive(),
  block_num: z.int().positive(),
});

type Prepared = { readonly uploadId: string; readonly blockBytes: number; readonly blocks: number };

async function prepare(deps: UploadDeps, upload: Upload): Promise<FeishuResult<Prepared>> {
  const name = 'media.upload-prepare';
  const answer = await deps.call(name, { json: parentOf(upload), signal: upload.signal });
  if (!answer.ok) return answer;
  const data = readData(name, prepareSchema, answer.value.body);
  if (!data.ok) return data;
  const { upload_id: uploadId, block_size: blockBytes, block_num: blocks } = data.value;
  if (blocks !== Math.ceil(upload.source.sizeBytes / blockBytes) || blockBytes > maxSinglePartBytes) {
    return fail(
      localFailure('retry', `${name}: ${blocks} parts of ${blockBytes} bytes do not fit the file`, 'unknown'),
    );
  }
  return ok({ uploadId, blockBytes, blocks });
}

/** A part in its form, ready to be sent. */
interface ReadyPart {
  readonly form: FormBuffer;
  readonly fields: Readonly<Record<string, string | number>>;
  readonly sizeBytes: number;
}

/**
 * While one part is under way the next is read into the other of two forms and summed, and that the one before has arrived
 * is written down: a crash may cost that one part once more.
 */
async function sendParts(deps: UploadDeps, upload: Upload, session: Session): Promise<FeishuResult<void>> {
  const { blockBytes, blocks } = session;
  const forms = [0, 1].map(() => createFormBuffer(blockBytes, boundaryOf(deps.ids)));
  const readAhead = (seq: number): Promise<ReadyPart> | undefined => {
    const form = forms[seq % forms.length];
    return seq >= blocks || form === undefined ? undefined : readyPart(upload, session, seq, form);
  };
  let ahead = readAhead(session.nextSeq());
  let noted: Promise<void> = Promise.resolve();
  try {
    for (let seq = session.nextSeq(); ahead !== undefined; seq += 1) {
      const { form, fields, sizeBytes } = await ahead;
      ahead = readAhead(seq + 1);
      // Looked at in its turn; until then its failure must not count as unhandled.
      ahead?.catch(() => undefined);
      const answer = await deps.call('media.upload-part', {
        bytes: () => form.seal(fields, upload.fileName, sizeBytes),
        signal: upload.signal,
      });
      if (!answer.ok) return answer;
      await noted;
      noted = session.sent(seq);
      noted.catch(() => undefined);
    }
    await noted;
    return ok(undefined);
  } finally {
    // Neither the file nor the session is let go of while it is in use.
    await Promise.allSettled([ahead, noted]);
  }
}

async function readyPart(upload: Upload, session: Session, seq: number, form: FormBuffer): Promise<ReadyPart> {
  const offset = seq * session.blockBytes;
  const sizeBytes = Math.min(session.blockBytes, upload.source.sizeBytes - offset);
  await readPart(upload.source, form, offset, sizeBytes);
  const checksum = adler32(form.file.subarray(0, sizeBytes));
  return { form, fields: { upload_id: session.uploadId, seq, size: sizeBytes, checksum }, sizeBytes };
}

async function finish(deps: UploadDeps, upload: Upload, session: Session): Promise<FeishuResult<string>> {
  const name = 'media.upload-finish';
  const json = { upload_id: session.uploadId, block_num: session.blocks };
  const answer = await deps.call(name, { json, signal: upload.signal });
  if (!answer.ok) return answer;
  const data = readData(name, tokenSchema, answer.value.body);
  return data.ok ? ok(data.value.file_token) : data;
}

/** Reads exactly `length` bytes into the form, straight where the source can; a file that has become shorter or longer is an error. */
async function readPart(source: UploadSource, form: FormBuffer, offset: number, length: number): Promise<void> {
  let filled = 0;
  for await (const chunk of source.open(offset, length, form.file.subarray(0, length))) {
    if (filled + chunk.byteLength > length) throw new Error('the file gave more bytes than it has');
    if (!isInPlace(chunk, form.file, filled)) form.file.set(chunk, filled);
    filled += chunk.byteLength;
  }
  if (filled !== length) throw new Error(`the file gave ${filled} of ${length} bytes at ${offset}`);
}

function isInPlace(chunk: Uint8Array, memory: Uint8Array, offset: number): boolean {
  return chunk.buffer === memory.buffer && chunk.byteOffset === memory.byteOffset + offset;
}

function boundaryOf(ids: IdSource): string {
  return `gridloom-${ids.uuid()}`;
}
