import { z } from 'zod';
import { addEndpoint, jsonResponse } from '../endpoint.ts';
import { newToken, type World } from '../world.ts';
import { addUploadedFile, ownFile, uploadedFile } from './files-api.ts';
import { kieRefusal, kieSuccess } from './kie.ts';
import { hasKey } from './shared.ts';
import { fileUrl } from './tasks.ts';

const freshLinkLifeMs = 20 * 60_000;
const linkSchema = z.object({ url: z.string() });

/** A new link for a result of kie's own, good for 20 minutes. */
export function addKieLinks(world: World): void {
  addEndpoint(world, {
    name: 'kie.downloadUrl',
    method: 'POST',
    path: '/kie/api/v1/common/download-url',
    latency: 'vendorMs',
    handle: (call) => {
      if (!hasKey(world, 'kie', call)) return kieRefusal(401, 'You do not have access permissions');
      const file = ownFile(world, linkSchema.safeParse(call.json()).data?.url ?? '');
      if (file === undefined) return kieRefusal(422, 'The url is not a kie.ai file');
      const fresh = { ...file, fileId: newToken(world, '', 20), expiresAtMs: world.clock.nowMs() + freshLinkLifeMs };
      world.state.files[fresh.fileId] = fresh;
      return kieSuccess(fileUrl(world, fresh.fileId));
    },
  });
}

/** The other host: files are free, public, and gone after three days. */
export function addKieUpload(world: World): void {
  addEndpoint(world, {
    name: 'kie.upload',
    method: 'POST',
    path: '/kie-upload/api/file-stream-upload',
    latency: 'vendorMs',
    maxBodyBytes: 110 * 1024 * 1024,
    handle: async (call) => {
      if (!hasKey(world, 'kie', call)) return kieRefusal(401, 'You do not have access permissions');
      const upload = uploadedFile(call);
      if (upload?.fields.get('uploadPath') === undefined) return kieRefusal(400, 'file and uploadPath are required');
      if (upload.bytes.length === 0) return kieRefusal(400, 'empty file');
      const file = await addUploadedFile(world, upload);
      const downloadUrl = fileUrl(world, file.fileId);
      return jsonResponse({
        success: true,
        code: 200,
        msg: 'File uploaded successfully',
        data: {
          fileName: file.name,
          filePath: `${upload.fields.get('uploadPath') ?? ''}/${file.name}`,
          downloadUrl,
          fileSize: upload.bytes.length,
          mimeType: file.mime,
          uploadedAt: new Date(world.clock.nowMs()).toISOString(),
        },
      });
    },
  });
}
