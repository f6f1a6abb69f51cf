import { parseMultipart } from '../multipart.ts';
import { keepBlob } from '../blobs.ts';
import { addEndpoint, type Call } from '../endpoint.ts';
import { Refusal } from '../feishu/refusal.ts';
import { mediaResponse } from '../feishu/media-download-api.ts';
import { mimeOfName } from '../mime.ts';
import type { FileState } from '../state.ts';
import { newToken, type World } from '../world.ts';

const chunkBytes = 65_536;

/** `/files`: what vendors' result and upload links, and Feishu's temporary links, point at. No key is asked for. */
export function addFilesApi(world: World): void {
  addEndpoint(world, {
    name: 'files.feishu',
    method: 'GET',
    path: '/files/feishu/:token',
    handle: async (call) => {
      const media = world.state.media[call.params['token'] ?? ''];
      if (media === undefined) return new Response('not found', { status: 404 });
      return mediaResponse(world, media, call.request.headers.get('range')).catch((error: unknown) => {
        if (error instanceof Refusal) return new Response(error.message, { status: error.status });
        throw error;
      });
    },
  });
  addEndpoint(world, {
    name: 'files.download',
    method: 'GET',
    path: '/files/:file_id/:name',
    handle: (call) => download(world, call),
  });
}

async function download(world: World, call: Call): Promise<Response> {
  const file = world.state.files[call.params['file_id'] ?? ''];
  if (file === undefined) return new Response('<Error><Code>NoSuchKey</Code></Error>', xml(404));
  if (world.clock.nowMs() > file.expiresAtMs) return new Response('<Error><Code>AccessDenied</Code></Error>', xml(403));
  const bytes = await world.blobs.read(file.hash);
  if (bytes === undefined) return new Response('<Error><Code>NoSuchKey</Code></Error>', xml(404));
  return fileResponse(file, new Uint8Array(bytes));
}

function xml(status: number): ResponseInit {
  return { status, headers: { 'content-type': 'application/xml' } };
}

function fileResponse(file: FileState, bytes: Uint8Array<ArrayBuffer>): Response {
  const headers = { 'content-type': file.mime };
  switch (file.defect) {
    case 'html':
      return new Response('<!doctype html><title>403</title><h1>Access denied</h1>', {
        headers: { 'content-type': 'text/html; charset=utf-8' },
      });
    case 'empty':
      return new Response(new Uint8Array(0), { headers: { ...headers, 'content-length': '0' } });
    case 'wrong-type':
      return new Response('{"error":"not found"}', { headers });
    case 'garbage':
      return new Response(
        bytes.map((value) => value ^ 0x5a),
        { headers },
      );
    case 'truncated':
      return truncated(bytes, headers);
    case undefined:
      break;
  }
  if (file.padToBytes !== undefined && file.padToBytes > bytes.length) return padded(bytes, file.padToBytes, headers);
  return new Response(bytes, { headers: { ...headers, 'content-length': String(bytes.length) } });
}

/** Announces the whole length and ends after half of it. */
function truncated(bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string>): Response {
  const half = bytes.subarray(0, Math.max(1, bytes.length >> 1));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(half);
      controller.close();
    },
  });
  return new Response(body, { headers: { ...headers, 'x-announced-length': String(bytes.length) } });
}

/** The file, then one ISO `free` box of zeros up to the wanted size: still a valid MP4, and never held in memory. */
function padded(bytes: Uint8Array<ArrayBuffer>, wholeBytes: number, headers: Record<string, string>): Response {
  const head = new Uint8Array(16);
  const boxBytes = Math.max(16, wholeBytes - bytes.length);
  const sizes = new DataView(head.buffer);
  sizes.setUint32(0, 1);
  head.set(new TextEncoder().encode('free'), 4);
  sizes.setBigUint64(8, BigInt(boxBytes));
  let left = boxBytes - 16;
  const filler = new Uint8Array(chunkBytes);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(bytes);
      controller.enqueue(head);
    },
    pull: (controller) => {
      if (left <= 0) {
        controller.close();
        return;
      }
      const size = Math.min(left, chunkBytes);
      left -= size;
      controller.enqueue(filler.subarray(0, size));
    },
  });
  return new Response(body, { headers: { ...headers, 'content-length': String(bytes.length + boxBytes) } });
}

const uploadLifeMs = 3 * 86_400_000;

/** Takes an uploaded picture; the link is public. */
export async function addUploadedFile(
  world: World,
  upload: { name: string; bytes: Uint8Array; lifeMs?: number },
): Promise<FileState> {
  const file: FileState = {
    fileId: newToken(world, '', 20),
    hash: await keepBlob(world.blobs, upload.bytes),
    mime: mimeOfName(upload.name),
    name: upload.name.replace(/[^\w.-]+/g, '_'),
    expiresAtMs: world.clock.nowMs() + (upload.lifeMs ?? uploadLifeMs),
  };
  world.state.files[file.fileId] = file;
  return file;
}

/** The first file of an uploaded form, or undefined. */
export function uploadedFile(
  call: Call,
): { name: string; bytes: Uint8Array; fields: ReadonlyMap<string, string> } | undefined {
  const form = parseMultipart(call.request.headers.get('content-type'), call.body);
  const file = form?.files.values().next().value;
  if (form === undefined || file === undefined) return undefined;
  return { name: form.fields.get('fileName') ?? file.fileName ?? 'file.bin', bytes: file.bytes, fields: form.fields };
}

/** Reads a picture that a client named: one of our own links, still alive, or a data URI. The world has no other pictures. */
export async function readOwnPicture(world: World, address: string): Promise<Uint8Array | undefined> {
  const inline = /^data:image\/[\w+.-]+;base64,(.+)$/s.exec(address);
  const bytes =
    inline === null ? await readLink(world, address) : new Uint8Array(Buffer.from(inline[1] ?? '', 'base64'));
  return bytes !== undefined && world.painter.isPicture(bytes) ? bytes : undefined;
}

/** The file of the world that a link names, dead links included. */
export function ownFile(world: World, address: string): FileState | undefined {
  const id = address.startsWith(world.baseUrl()) ? /\/files\/([^/?#]+)\/[^/?#]+/.exec(address)?.[1] : undefined;
  return id === undefined ? undefined : world.state.files[id];
}

async function readLink(world: World, address: string): Promise<Uint8Array | undefined> {
  const token = /\/files\/feishu\/([^/?#]+)/.exec(address)?.[1];
  if (token !== undefined && address.startsWith(world.baseUrl())) {
    const media = world.state.media[token];
    return media === undefined ? undefined : world.blobs.read(media.hash);
  }
  const file = ownFile(world, address);
  return file === undefined || file.expiresAtMs < world.clock.nowMs() ? undefined : world.blobs.read(file.hash);
}
