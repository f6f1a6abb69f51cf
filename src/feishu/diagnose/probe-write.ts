import { type Clock, type Json, type JsonObject, sleep } from '../../kernel/index.ts';
import type { FeishuClient, TableRef } from '../client.ts';
import { type AppPlace, type CheckName, type Diagnosis, fault, faultOf, fine } from './diagnosis.ts';

export interface WriteProbe {
  readonly client: FeishuClient;
  readonly clock: Clock;
  readonly table: TableRef;
  readonly place: AppPlace;
  /** A text column that the bot may write. */
  readonly textColumn: string;
  /** An attachment column, for the upload; without it only the row is probed. */
  readonly attachment?: { readonly column: string; readonly fieldId: string };
  readonly hasAdvancedPermissions: boolean;
  readonly signal?: AbortSignal;
}

const madeText = 'Gridloom 自检，可删除';
const changedText = 'Gridloom 自检中';
/** A new row may be unknown to the platform's other replicas for some seconds. */
const replicaLagMs = 2_000;
const readTries = 3;

/**
 * A real write and a real upload, undone: a row is made, changed, read back by id and by search, given a small file that is
 * downloaded again, and deleted. The row's deletion takes the file with it. Automations of the base may see the row for a
 * few seconds. Stops at the first fault of a kind that the rest needs.
 */
export async function probeWrite(probe: WriteProbe): Promise<readonly Diagnosis[]> {
  const { client, table, place, signal } = probe;
  const made = await client.createRecords(table, [{ [probe.textColumn]: madeText }], signal);
  if (!made.ok) return [faultOf('write', made.failure, place)];
  const recordId = made.value[0];
  if (recordId === undefined)
    return [fault('write', 'a row was made, but the platform named none', 'look for it in the table')];
  const found: Diagnosis[] = [];
  try {
    found.push(await changeAndRead(probe, recordId));
    if (found.every((diagnosis) => diagnosis.ok)) found.push(await findBySearch(probe, recordId));
    if (probe.attachment !== undefined) found.push(...(await attachAndDownload(probe, recordId, probe.attachment)));
  } finally {
    // Without the caller's signal: what was made is taken away even when the doctor is interrupted.
    const removed = await client.deleteRecord(table, recordId);
    found.push(
      removed.ok || removed.failure.class === 'gone'
        ? fine('cleanup', 'the row of the check is deleted again')
        : fault('cleanup', removed.failure.message, `delete the row "${madeText}" (${recordId}) by hand`),
    );
  }
  return found;
}

async function changeAndRead(probe: WriteProbe, recordId: string): Promise<Diagnosis> {
  const written = await write(probe, recordId, { [probe.textColumn]: changedText });
  if (written !== undefined) return faultOf('write', written, probe.place);
  const row = await readRow(probe, recordId);
  if (row.kind === 'refused') return faultOf('write', row.failure, probe.place);
  if (row.kind === 'unseen')
    return unseen(probe, 'advanced-permission', 'the row that the app made cannot be read by it');
  const text = plainText(row.fields[probe.textColumn]);
  if (text === changedText) return fine('write', `a row was made, changed and read back (${probe.textColumn})`);
  return fault(
    'write',
    `${probe.textColumn} was written with success, but reads "${text}"`,
    `the column silently drops what is written: make ${probe.textColumn} a plain text column`,
  );
}

/** Under advanced permissions a search may answer with nothing at all; a row that is surely there tells. */
async function findBySearch(probe: WriteProbe, recordId: string): Promise<Diagnosis> {
  const { client, table, place, textColumn } = probe;
  const conditions = [{ field_name: textColumn, operator: 'is', value: [changedText] }];
  for (let tries = 1; ; tries += 1) {
    const answer = await client.searchRecords(table, { filter: { conjunction: 'and', conditions } }, probe.signal);
    if (!answer.ok) return faultOf('read', answer.failure, place);
    if (answer.value.some((record) => record.recordId === recordId)) return fine('read', 'a search finds the row');
    if (tries >= readTries) return unseen(probe, 'read', 'a search does not find the row that is there');
    await sleep(probe.clock, replicaLagMs, probe.signal);
  }
}

async function attachAndDownload(
  probe: WriteProbe,
  recordId: string,
  attachment: { readonly column: string; readonly fieldId: string },
): Promise<readonly Diagnosis[]> {
  const { client, table, place, signal } = probe;
  const bytes = new TextEncoder().encode(`${madeText}\n`);
  const source = { name: 'gridloom-自检.txt', sizeBytes: bytes.byteLength, open: sliceOf(bytes) };
  const uploaded = await client.uploadMedia(table.appToken, source, signal);
  if (!uploaded.ok) return [faultOf('upload', uploaded.failure, place)];
  const attached = await write(probe, recordId, { [attachment.column]: [{ file_token: uploaded.value }] });
  if (attached !== undefined) return [faultOf('upload', attached, place)];
  const done = fine('upload', `a file was uploaded and attached (${attachment.column})`);
  const permission = { tableId: table.tableId, fieldId: attachment.fieldId, recordId };
  const asked = probe.hasAdvancedPermissions
    ? { fileToken: uploaded.value, permission }
    : { fileToken: uploaded.value };
  const downloaded = await client.downloadMedia(asked, signal);
  if (!downloaded.ok) return [done, faultOf('download', downloaded.failure, place)];
  const isSame = await holds(downloaded.value, bytes);
  return [
    done,
    isSame
      ? fine('download', 'the file was downloaded again, byte for byte')
      : fault(
          'download',
          'the file came back changed',
          'something between here and the platform alters downloads; check for a proxy',
        ),
  ];
}

type RowReading =
  | { readonly kind: 'row'; readonly fields: JsonObject }
  | { readonly kind: 'unseen' }
  | { readonly kind: 'refused'; readonly failure: Parameters<typeof faultOf>[1] };

async function readRow(probe: WriteProbe, recordId: string): Promise<RowReading> {
  for (let tries = 1; ; tries += 1) {
    const answer = await probe.client.getRecords(probe.table, [recordId], probe.signal);
    if (!answer.ok) return { kind: 'refused', failure: answer.failure };
    const row = answer.value.records.find((record) => record.recordId === recordId);
    if (row !== undefined) return { kind: 'row', fields: row.fields };
    if (answer.value.forbidden.includes(recordId) || tries >= readTries) return { kind: 'unseen' };
    await sleep(probe.clock, replicaLagMs, probe.signal);
  }
}

async function write(
  probe: WriteProbe,
  recordId: string,
  fields: JsonObject,
): Promise<Parameters<typeof faultOf>[1] | undefined> {
  const answer = await probe.client.updateRecords(probe.table, [{ recordId, fields }], probe.signal);
  return answer.ok ? undefined : answer.failure;
}

function unseen(probe: WriteProbe, check: CheckName, what: string): Diagnosis {
  const advice = probe.hasAdvancedPermissions
    ? '高级权限 is on: the app must be 可管理 in the base (「…」 → 更多 → 添加文档应用), else reads come back empty'
    : 'the platform may lag behind; run the doctor again in a minute';
  return fault(check, what, advice);
}

/** A text cell as search and batch read give it: segments, or a plain string. */
function plainText(cell: Json | undefined): string {
  if (typeof cell === 'string') return cell;
  if (!Array.isArray(cell)) return '';
  return cell.map((part: unknown) => textOf(part)).join('');
}

function textOf(part: unknown): string {
  const text: unknown = typeof part === 'object' && part !== null && 'text' in part ? part.text : '';
  return typeof text === 'string' ? text : '';
}

function sliceOf(bytes: Uint8Array): (offset: number, length: number) => AsyncIterable<Uint8Array> {
  return async function* slice(offset, length) {
    yield await Promise.resolve(bytes.subarray(offset, offset + length));
  };
}

async function holds(chunks: AsyncIterable<Uint8Array>, wanted: Uint8Array): Promise<boolean> {
  try {
    let at = 0;
    for await (const chunk of chunks) {
      for (const byte of chunk) {
        if (wanted[at] !== byte) return false;
        at += 1;
      }
    }
    return at === wanted.byteLength;
  } catch {
    return false;
  }
}
