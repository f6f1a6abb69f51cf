import type { Artifact, Failure } from '../contract/index.ts';
import type { FeishuFailure, TableRef } from '../feishu/index.ts';
import { fail, ok, type Result, sleep } from '../kernel/index.ts';
import type { CellAttachment } from './codec-read.ts';
import type { BoundColumn } from './columns.ts';
import type { TableSideDeps } from './deps.ts';
import type { FileMemory } from './file-memory.ts';

export interface AttachmentPlace {
  readonly table: TableRef;
  readonly recordId: string;
  readonly column: BoundColumn;
}

type AttachmentDeps = Pick<TableSideDeps, 'client' | 'spool' | 'clock' | 'settings' | 'logger'> & {
  readonly files: FileMemory;
};

/** What could not be read, in words for staff; `isTransient` when the file itself may be fine. */
export interface AttachmentFault {
  readonly words: string;
  readonly isTransient: boolean;
}

/**
 * Gets the bytes of a cell's file: ours when the spool still has them, else downloaded and checked (not empty, not too large,
 * a picture by its first bytes whatever its name says). Nothing is paid for a file that does not pass. Whoever asks for a
 * file that is on its way shares that download.
 */
export type Attachments = (place: AttachmentPlace, file: CellAttachment) => Promise<Result<Artifact, AttachmentFault>>;

export function createAttachments(deps: AttachmentDeps, signal: AbortSignal): Attachments {
  const underWay = new Map<string, Promise<Result<Artifact, AttachmentFault>>>();
  return async (place, file) => {
    const key = `${place.table.appToken}/${file.fileToken}`;
    const known = underWay.get(key);
    if (known !== undefined) return await known;
    const mine = fetchAttachment(deps, place, file, signal).finally(() => underWay.delete(key));
    underWay.set(key, mine);
    return await mine;
  };
}

async function fetchAttachment(
  deps: AttachmentDeps,
  place: AttachmentPlace,
  file: CellAttachment,
  signal: AbortSignal,
): Promise<Result<Artifact, AttachmentFault>> {
  const held = await deps.files.artifactOf(place.table.appToken, file.fileToken);
  if (held !== undefined && (await deps.spool.has(held.hash))) return ok(held);
  const label = `「${place.column.name}」里的文件「${file.name}」`;
  const sizeFault = checkSize(file, label, deps.settings.transfer.max_input_bytes);
  if (sizeFault !== undefined) return fail({ words: sizeFault, isTransient: false });
  const { attempts, delay } = deps.settings.transfer;
  let last: AttachmentFault = { words: `${label}下载失败，请稍后再选「提交」。`, isTransient: true };
  for (let tryNumber = 1; tryNumber <= attempts; tryNumber += 1) {
    if (tryNumber > 1) await sleep(deps.clock, delay, signal);
    const outcome = await downloadOnce(deps, place, file, label, signal);
    if (outcome.ok) {
      await deps.files.remember(place.table.appToken, file.fileToken, outcome.value);
      return outcome;
    }
    last = outcome.failure;
    if (!last.isTransient) break;
  }
  return fail(last);
}

function checkSize(file: CellAttachment, label: string, maxBytes: number): string | undefined {
  if (file.sizeBytes === 0) return `${label}是空文件（0 字节），请重新上传后再选「提交」。`;
  if (file.sizeBytes !== undefined && file.sizeBytes > maxBytes) {
    return `${label}太大（${megabytes(file.sizeBytes)} MB，上限 ${megabytes(maxBytes)} MB），请压缩后重新上传，再选「提交」。`;
  }
  return undefined;
}

function megabytes(bytes: number): string {
  return String(Math.round((bytes / 1_048_576) * 10) / 10);
}

async function downloadOnce(
  deps: AttachmentDeps,
  place: AttachmentPlace,
  file: CellAttachment,
  label: string,
  signal: AbortSignal,
): Promise<Result<Artifact, AttachmentFault>> {
  const permission = {
    tableId: place.table.tableId,
    fieldId: place.column.fieldId,
    recordId: place.recordId,
  };
  const answer = await deps.client.downloadMedia({ fileToken: file.fileToken, permission }, signal);
  if (!answer.ok) return fail(downloadFault(answer.failure, label, place.column.name));
  const maxBytes = deps.settings.transfer.max_input_bytes;
  const expectedBytes = file.sizeBytes === undefined ? {} : { expectedBytes: file.sizeBytes };
  try {
    const options = { nameHint: file.name, maxBytes, expect: 'image', ...expectedBytes } as const;
    const stored = await deps.spool.store(answer.value, options, signal);
    return stored.ok ? stored : fail(contentFault(stored.failure, label, maxBytes));
  } catch (error) {
    signal.throwIfAborted();
    deps.logger.warn('an attachment broke off on its way', { error });
    return fail({ words: `${label}下载中断，请稍后再选「提交」。`, isTransient: true });
  }
}

function downloadFault(failure: FeishuFailure, label: string, column: string): AttachmentFault {
  if (failure.class === 'permission') {
    return {
      words: `机器人没有权限读取「${column}」列的附件；请在多维表格的高级权限里允许该应用查看，再选「提交」。`,
      isTransient: false,
    };
  }
  if (failure.class === 'gone') return { words: `${label}已被删除，请重新上传后再选「提交」。`, isTransient: false };
  return { words: `${label}下载失败（飞书代码 ${failure.code}），请稍后再选「提交」。`, isTransient: true };
}

/** Codes of the spool's own checks that say the file itself is wrong; anything else may be the line's fault. */
function contentFault(failure: Failure, label: string, maxBytes: number): AttachmentFault {
  if (failure.kind === 'storage') return { words: '服务器磁盘空间不足或不可写，已通知管理员。', isTransient: true };
  if (failure.code === 'content.empty')
    return { words: `${label}是空文件，请重新上传后再选「提交」。`, isTransient: false };
  if (failure.code === 'content.too-large') {
    return {
      words: `${label}太大（上限 ${megabytes(maxBytes)} MB），请压缩后重新上传，再选「提交」。`,
      isTransient: false,
    };
  }
  if (failure.code !== 'content.type') {
    return { words: `${label}下载中断，请稍后再选「提交」。`, isTransient: true };
  }
  return {
    words: `${label}不是可用的图片（内容与后缀不符或已损坏），请换成 png、jpg 或 webp 图片后再选「提交」。`,
    isTransient: false,
  };
}
