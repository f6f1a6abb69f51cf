import { type Clock, fail, ok } from '../kernel/index.ts';
import { guardedChunks } from './body.ts';
import type { Call } from './caller.ts';
import type { FeishuClient } from './client.ts';
import { localFailure } from './failure.ts';

/**
 * Downloads an attachment as a stream. The caller must read it to its end or leave its loop: the connection is held until
 * then. A body that stalls, breaks or ends short throws a TransportError out of the loop.
 */
export function createDownload(call: Call, clock: Clock, idleMs: number): FeishuClient['downloadMedia'] {
  return async ({ fileToken, permission }, signal) => {
    const answer = await call('media.download', {
      path: { file_token: fileToken },
      query: permission === undefined ? {} : { extra: extraOf(fileToken, permission) },
      wantsStream: true,
      signal,
    });
    if (!answer.ok) return answer;
    const { stream, headers } = answer.value;
    if (stream === undefined) return fail(localFailure('retry', 'media.download: no body came', 'unknown'));
    return ok(guardedChunks(stream, { clock, idleMs, signal, expectedBytes: lengthOf(headers) }));
  };
}

/** Under advanced permissions the cell that holds the file must be named; `attachments` is required in it. */
function extraOf(
  fileToken: string,
  permission: { readonly tableId: string; readonly fieldId: string; readonly recordId: string },
): string {
  const { tableId, fieldId, recordId } = permission;
  return JSON.stringify({ bitablePerm: { tableId, attachments: { [fieldId]: { [recordId]: [fileToken] } } } });
}

function lengthOf(headers: Headers): number | undefined {
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') return undefined;
  const text = headers.get('content-length');
  const length = text === null || text === '' ? Number.NaN : Number(text);
  return Number.isInteger(length) && length >= 0 ? length : undefined;
}
