import type { Failure, PictureLimits, ProviderDeps } from '../../contract/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import { failureOfAnswer, type Upload, uniqueFileName, type VendorLine } from '../common/index.ts';
import { encodeMultipart, type HttpAnswer } from '../http/index.ts';
import { envelopeError, readEnvelope } from './codes.ts';
import { uploadSchema } from './wire.ts';

/** Most models behind kie take JPEG, PNG and WebP up to 10 MB; larger pictures are scaled down before the upload. */
export const kiePictureLimits: PictureLimits = {
  maxSidePx: 6_000,
  maxBytes: 10_000_000,
  mimes: ['image/jpeg', 'image/png', 'image/webp'],
};

/** Free; on a host of its own; deleted after three days. */
export function createKieUpload(uploadBaseUrl: string, line: VendorLine, deps: ProviderDeps): Upload {
  return async (artifact, file, signal) => {
    const fileName = uniqueFileName(artifact, file.mime, deps.ids.uuid());
    const form = encodeMultipart(
      [
        { name: 'uploadPath', value: 'gridloom' },
        { name: 'fileName', value: fileName },
        { name: 'file', value: file.bytes, fileName, contentType: file.mime },
      ],
      `gridloom-${deps.ids.uuid()}`,
    );
    const answer = await line.send(
      { method: 'POST', url: `${uploadBaseUrl}/api/file-stream-upload`, body: form },
      deps.timeouts.submitMs,
      signal,
    );
    return readUpload(answer, line);
  };
}

/** The address of the uploaded file; refusals come as HTTP 200 with `success: false`. */
function readUpload(answer: HttpAnswer, line: VendorLine): Result<string, Failure> {
  if (answer.kind === 'json' && answer.status < 300) {
    const upload = uploadSchema.safeParse(answer.json);
    const url = upload.data?.data?.downloadUrl ?? upload.data?.data?.fileUrl ?? upload.data?.data?.url;
    if (upload.data?.success !== false && typeof url === 'string' && URL.canParse(url)) return ok(url);
  }
  const envelope = answer.kind === 'json' ? readEnvelope(answer) : undefined;
  const error = envelope === undefined || envelope.code === 200 ? undefined : envelopeError(envelope);
  const failure = failureOfAnswer(answer, line.context(), error);
  return fail(
    answer.kind !== 'none' && answer.status < 300 && error === undefined
      ? { ...failure, kind: 'unavailable' }
      : failure,
  );
}
