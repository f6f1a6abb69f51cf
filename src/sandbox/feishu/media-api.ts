import { z } from 'zod';
import { adler32, concatBytes } from '../bytes.ts';
import { hashBytes, keepBlob } from '../blobs.ts';
import type { Call } from '../endpoint.ts';
import { mimeOfName } from '../mime.ts';
import { type Form, parseMultipart } from '../multipart.ts';
import type { MediaState } from '../state.ts';
import { newToken, type World } from '../world.ts';
import { type FeishuGate, requireJson } from './gate.ts';
import { dressRefusal, Refusal, success } from './refusal.ts';

const root = '/feishu/open-apis/drive/v1/medias';
const maxWholeBytes = 20_971_520;
const blockBytes = 4_194_304;
const uploadLifeMs = 24 * 3_600_000;
/** Larger files are checked, counted and hashed, but their bytes are not kept. */
const maxKeptBytes = 64 * 1024 * 1024;

interface OpenUpload {
  readonly appToken: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly expiresAtMs: number;
  readonly parts: (Uint8Array | number | undefined)[];
}

const targetSchema = z.object({
  file_name: z.string(),
  parent_type: z.string(),
  parent_node: z.string(),
  size: z.coerce.number().int(),
  checksum: z.string().optional(),
});

function checkTarget(world: World, values: unknown): z.infer<typeof targetSchema> {
  const parsed = targetSchema.safeParse(values);
  if (!parsed.success) throw new Refusal(1061002, 'params error.');
  const target = parsed.data;
  if (target.file_name.length === 0 || target.file_name.length > 250) throw new Refusal(1061008, 'file name invalid.');
  if (target.parent_type !== 'bitable_image' && target.parent_type !== 'bitable_file') {
    throw new Refusal(1061002, 'params error: parent_type');
  }
  const base = world.state.bases[target.parent_node];
  if (base === undefined) throw new Refusal(1061044, 'parent node not exist.');
  if (base.appRole === 'none' || base.appRole === 'reader') throw new Refusal(1061004, 'forbidden.', 403);
  return target;
}

function checkBytes(bytes: Uint8Array, sizeBytes: number, checksum: string | undefined): void {
  if (bytes.length !== sizeBytes) throw new Refusal(1062009, 'actual size is inconsistent with the parameter.');
  if (checksum !== undefined && checksum !== '' && checksum !== String(adler32(bytes))) {
    throw new Refusal(1062008, 'checksum is wrong.');
  }
}

async function keepMedia(
  world: World,
  media: { appToken: string; name: string; bytes: Uint8Array; sizeBytes?: number },
): Promise<MediaState> {
  const dropped = media.sizeBytes !== undefined;
  const entry: MediaState = {
    fileToken: newToken(world, 'box', 24),
    appToken: media.appToken,
    name: media.name,
    sizeBytes: media.sizeBytes ?? media.bytes.length,
    mime: mimeOfName(media.name),
    hash: dropped ? hashBytes(media.bytes) : await keepBlob(world.blobs, media.bytes),
    atMs: world.clock.nowMs(),
    ...(dropped ? { dropped: true } : {}),
  };
  world.state.media[entry.fileToken] = entry;
  return entry;
}

/** Stores a file for a base as staff would upload it in the page. */
export async function addMedia(world: World, appToken: string, name: string, bytes: Uint8Array): Promise<MediaState> {
  return keepMedia(world, { appToken, name, bytes });
}

function formOf(call: Call): { form: Form; file: Uint8Array } {
  const form = parseMultipart(call.request.headers.get('content-type'), call.body);
  const file = form?.files.get('file');
  if (form === undefined || file === undefined) throw new Refusal(1061002, 'params error: no file part');
  return { form, file: file.bytes };
}

export function addMediaUploadApi(world: World, gate: FeishuGate): void {
  const uploads = new Map<string, OpenUpload>();
  const lock = {
    key: () => 'upload',
    conflict: () => dressRefusal(world, new Refusal(1061045, 'resource contention occurred, please retry.', 200)),
  };
  gate.add({
    name: 'feishu.media.uploadAll',
    method: 'POST',
    path: `${root}/upload_all`,
    latency: 'feishuMediaMs',
    perSecond: 5,
    lock,
    handle: async (call) => {
      const { form, file } = formOf(call);
      const target = checkTarget(world, Object.fromEntries(form.fields));
      if (target.size > maxWholeBytes || file.length > maxWholeBytes)
        throw new Refusal(1061043, 'file size beyond limit.');
      if (file.length === 0) throw new Refusal(1061002, 'params error: empty file');
      checkBytes(file, target.size, target.checksum);
      const media = await keepMedia(world, { appToken: target.parent_node, name: target.file_name, bytes: file });
      return success({ file_token: media.fileToken });
    },
  });
  addParts(world, gate, uploads);
}

const partSchema = z.object({
  upload_id: z.string(),
  seq: z.coerce.number().int().min(0),
  size: z.coerce.number().int(),
  checksum: z.string().optional(),
});
const finishSchema = z.object({ upload_id: z.string(), block_num: z.coerce.number().int() });

function openUpload(world: World, uploads: Map<string, OpenUpload>, id: string): OpenUpload {
  const upload = uploads.get(id);
  if (upload === undefined || upload.expiresAtMs <= world.clock.nowMs())
    throw new Refusal(1061021, 'upload id expire.');
  return upload;
}

function addParts(world: World, gate: FeishuGate, uploads: Map<string, OpenUpload>): void {
  const shared = { method: 'POST', latency: 'feishuMediaMs', perSecond: 5 } as const;
  gate.add({
    ...shared,
    name: 'feishu.media.uploadPrepare',
    path: `${root}/upload_prepare`,
    handle: (call) => {
      const target = checkTarget(world, requireJson(call));
      if (target.size <= 0) throw new Refusal(1061002, 'params error: size');
      const blocks = Math.ceil(target.size / blockBytes);
      const id = newToken(world, '', 20);
      uploads.set(id, {
        appToken: target.parent_node,
        name: target.file_name,
        sizeBytes: target.size,
        expiresAtMs: world.clock.nowMs() + uploadLifeMs,
        parts: Array.from({ length: blocks }, () => undefined),
      });
      return success({ upload_id: id, block_size: blockBytes, block_num: blocks });
    },
  });
  gate.add({
    ...shared,
    name: 'feishu.media.uploadPart',
    path: `${root}/upload_part`,
    lock: {
      key: () => 'part',
      conflict: () => dressRefusal(world, new Refusal(1061045, 'resource contention occurred, please retry.', 200)),
    },
    handle: (call) => {
      const { form, file } = formOf(call);
      const parsed = partSchema.safeParse(Object.fromEntries(form.fields));
      if (!parsed.success) throw new Refusal(1061002, 'params error.');
      const { upload_id: id, seq, size, checksum } = parsed.data;
      const upload = openUpload(world, uploads, id);
      checkBytes(file, size, checksum);
      if (seq >= upload.parts.length) throw new Refusal(1062011, 'block num over limit.');
      const wanted = Math.min(blockBytes, upload.sizeBytes - seq * blockBytes);
      if (file.length !== wanted) throw new Refusal(1062009, 'actual size is inconsistent with the parameter.');
      upload.parts[seq] = upload.sizeBytes > maxKeptBytes && seq > 0 ? file.length : file;
      return success({});
    },
  });
  gate.add({
    ...shared,
    name: 'feishu.media.uploadFinish',
    path: `${root}/upload_finish`,
    handle: async (call) => {
      const parsed = finishSchema.safeParse(requireJson(call));
      if (!parsed.success) throw new Refusal(1061002, 'params error.');
      const upload = openUpload(world, uploads, parsed.data.upload_id);
      if (parsed.data.block_num !== upload.parts.length || upload.parts.includes(undefined)) {
        throw new Refusal(1062010, 'block num is not enough.');
      }
      const bytes = concatBytes(upload.parts.filter((part) => part instanceof Uint8Array));
      const { appToken, name, sizeBytes } = upload;
      const size = bytes.length === sizeBytes ? {} : { sizeBytes };
      const media = await keepMedia(world, { appToken, name, bytes, ...size });
      uploads.delete(parsed.data.upload_id);
      return success({ file_token: media.fileToken });
    },
  });
}
