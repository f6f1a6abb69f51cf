import { z } from 'zod';
import { isJsonObject } from '../../kernel/index.ts';
import { type Call, parseJson } from '../endpoint.ts';
import type { MediaState } from '../state.ts';
import type { World } from '../world.ts';
import { type FeishuGate, param } from './gate.ts';
import { Refusal, success } from './refusal.ts';

const root = '/feishu/open-apis/drive/v1/medias';

const extraSchema = z.object({
  bitablePerm: z.looseObject({
    tableId: z.string(),
    rev: z.number().optional(),
    attachments: z.record(z.string(), z.record(z.string(), z.array(z.string()))).optional(),
  }),
});

function findMedia(world: World, token: string): MediaState {
  const media = world.state.media[token];
  if (media === undefined) throw new Refusal(1061003, 'not found.', 404);
  return media;
}

/** Under advanced permissions the call must say where the attachment lies, and the place must really hold it. */
function checkPermission(world: World, call: Call, media: MediaState): void {
  const base = world.state.bases[media.appToken];
  if (base === undefined || base.appRole === 'none') throw new Refusal(1061004, 'forbidden.', 403);
  if (!base.advancedPermission) return;
  const extra = extraSchema.safeParse(parseJson(call.url.searchParams.get('extra') ?? ''));
  if (!extra.success) throw new Refusal(1061002, 'params error: extra', 400);
  const { tableId, attachments } = extra.data.bitablePerm;
  const table = base.tables.find((candidate) => candidate.tableId === tableId);
  if (attachments === undefined) throw new Refusal(1061004, 'forbidden: attachments is required in extra', 403);
  const named = Object.entries(attachments).some(([fieldId, rows]) =>
    Object.entries(rows).some(([recordId, tokens]) => {
      const cell = table?.records[recordId]?.cells[fieldId];
      const held =
        Array.isArray(cell) && cell.some((item) => isJsonObject(item) && item['file_token'] === media.fileToken);
      return held && tokens.includes(media.fileToken);
    }),
  );
  if (!named) throw new Refusal(1061004, 'forbidden.', 403);
}

/** The bytes, whole or the part that `Range` asks for. */
export async function mediaResponse(world: World, media: MediaState, range: string | null): Promise<Response> {
  const bytes = media.dropped === true ? undefined : await world.blobs.read(media.hash);
  if (bytes === undefined) throw new Refusal(1061007, 'file has been deleted.', 404);
  const whole = new Uint8Array(bytes);
  const headers = {
    'content-type': media.mime,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(media.name)}`,
  };
  const match = /^bytes=(\d+)-(\d*)$/.exec(range ?? '');
  if (match === null) {
    return new Response(whole, {
      headers: { ...headers, 'content-length': String(whole.length), 'accept-ranges': 'bytes' },
    });
  }
  const from = Number(match[1]);
  const to =
    match[2] === '' || match[2] === undefined ? whole.length - 1 : Math.min(Number(match[2]), whole.length - 1);
  return new Response(whole.subarray(from, to + 1), {
    status: 206,
    headers: {
      ...headers,
      'content-length': String(Math.max(0, to - from + 1)),
      'content-range': `bytes ${from}-${to}/${whole.length}`,
    },
  });
}

export function addMediaDownloadApi(world: World, gate: FeishuGate): void {
  gate.add({
    name: 'feishu.media.download',
    method: 'GET',
    path: `${root}/:file_token/download`,
    latency: 'feishuMediaMs',
    perSecond: 5,
    handle: async (call) => {
      const media = findMedia(world, param(call, 'file_token'));
      checkPermission(world, call, media);
      return mediaResponse(world, media, call.request.headers.get('range'));
    },
  });
  gate.add({
    name: 'feishu.media.tmpUrl',
    method: 'GET',
    path: `${root}/batch_get_tmp_download_url`,
    latency: 'feishuReadMs',
    perSecond: 5,
    handle: (call) => {
      const tokens = call.url.searchParams.getAll('file_tokens');
      if (tokens.length === 0 || tokens.length > 5) throw new Refusal(1061002, 'params error: file_tokens');
      const urls = tokens.map((token) => {
        const media = findMedia(world, token);
        checkPermission(world, call, media);
        return { file_token: token, tmp_download_url: `${world.baseUrl()}/files/feishu/${token}` };
      });
      return success({ tmp_download_urls: urls });
    },
  });
}
