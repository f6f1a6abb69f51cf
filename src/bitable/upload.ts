import type { Artifact } from '../contract/index.ts';
import type { FeishuFailure } from '../feishu/index.ts';
import { fail, ok, type Result, sleep } from '../kernel/index.ts';
import { safeFileName } from '../media/index.ts';
import type { Hub } from './hub.ts';

export type UploadFault =
  /** The platform is not to be had now: the result waits on disk, nothing is said in the row. */
  | { readonly kind: 'later'; readonly failure: FeishuFailure }
  /** Given up after the unit's own tries; in words for 报错. The result is kept. */
  | { readonly kind: 'failed'; readonly words: string };

/** Classes that say nothing about this file: the platform or our right to it is away. */
const awayClasses: readonly FeishuFailure['class'][] = ['quota', 'credential', 'permission', 'config'];
const againClasses: readonly FeishuFailure['class'][] = ['retry', 'throttled', 'conflict'];

/**
 * A file token for an artifact in a base: the one we have, or a new one for the bytes in the spool. The upload is tried
 * again as a whole, never the generation.
 */
export async function uploadArtifact(
  hub: Hub,
  appToken: string,
  artifact: Artifact,
  wantedName: string,
): Promise<Result<string, UploadFault>> {
  const { deps, files, signal } = hub;
  const known = await files.tokenOf(appToken, artifact.hash);
  if (known !== undefined) return ok(known);
  if (!(await deps.spool.has(artifact.hash))) {
    return fail({ kind: 'failed', words: '结果文件已不在本机，再选「提交」会重新取回，不会重新生成。' });
  }
  deps.failpoints.hit('outbox:before-upload');
  const { attempts, delay } = deps.settings.transfer;
  let last: FeishuFailure | undefined;
  for (let tryNumber = 1; tryNumber <= attempts; tryNumber += 1) {
    if (tryNumber > 1) await sleep(deps.clock, Math.max(delay, last?.retryAfterMs ?? 0), signal);
    const answer = await deps.client.uploadMedia(
      appToken,
      {
        name: safeFileName(wantedName, extensionOf(artifact), artifact.hash.slice(0, 8)),
        sizeBytes: artifact.sizeBytes,
        open: (offset, length, memory) => deps.spool.open(artifact, offset, length, memory),
        resumeKey: artifact.hash,
      },
      signal,
    );
    if (answer.ok) {
      deps.failpoints.hit('outbox:after-upload');
      await files.remember(appToken, answer.value, artifact);
      return answer;
    }
    last = answer.failure;
    if (awayClasses.includes(last.class)) return fail({ kind: 'later', failure: last });
    if (!againClasses.includes(last.class) && last.outcome === 'refused') break;
  }
  return fail({ kind: 'failed', words: uploadWords(last) });
}

function uploadWords(failure: FeishuFailure | undefined): string {
  const log = failure?.logId === undefined ? '' : `，日志号 ${failure.logId}`;
  return `已生成，但回传表格失败（飞书代码 ${failure?.code ?? 0}${log}）；结果已保留，再选「提交」只重传，不会重新生成。`;
}

/** The suffix that the bytes have, without its dot: the spool's name carries it. */
function extensionOf(artifact: Artifact): string {
  return /\.([A-Za-z0-9]{1,5})$/.exec(artifact.name)?.[1] ?? 'bin';
}
