import type { Failure, PictureLimits, ProviderDeps } from '../../contract/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import { checkFailure, failureOfAnswer, type Upload, uniqueFileName, type VendorLine } from '../common/index.ts';
import { encodeMultipart, type HttpAnswer } from '../http/index.ts';
import { readToapisError } from './codes.ts';
import { uploadSchema } from './wire.ts';

/** The vendor says 10 MB; read as decimal megabytes to be sure. */
export const toapisPictureLimits: PictureLimits = {
  maxSidePx: 6_000,
  maxBytes: 10_000_000,
  mimes: ['image/jpeg', 'image/png', 'image/webp', 'image/gif'],
};

/** Uploads are public and free; the vendor takes addresses only, never inline bytes. */
export function createToapisUpload(baseUrl: string, line: VendorLine, deps: ProviderDeps): Upload {
  return async (artifact, file, signal) => {
    const { maxBytes, mimes } = toapisPictureLimits;
    if (file.bytes.byteLength > maxBytes || !mimes.includes(file.mime)) {
      return fail({
        kind: 'invalid-input',
        code: 'input.images',
        message: `${artifact.name} (${file.mime}, ${file.bytes.byteLength} bytes): toapis takes JPEG, PNG, WebP or GIF up to ${maxBytes} bytes`,
        provider: deps.account.id,
      });
    }
    const fileName = uniqueFileName(artifact, file.mime, deps.ids.uuid());
    const form = encodeMultipart(
      [{ name: 'file', value: file.bytes, fileName, contentType: file.mime }],
      `gridloom-${deps.ids.uuid()}`,
    );
    const answer = await line.send(
      { method: 'POST', url: `${baseUrl}/v1/uploads/images`, body: form },
      deps.timeouts.submitMs,
      signal,
    );
    return readUpload(answer, line);
  };
}

function readUpload(answer: HttpAnswer, line: VendorLine): Result<string, Failure> {
  if (answer.kind === 'json') {
    const upload = uploadSchema.safeParse(answer.json);
    if (upload.success && answer.status < 300 && URL.canParse(upload.data.data.url)) return ok(upload.data.data.url);
    const error = readToapisError(answer.json);
    if (error !== undefined) return fail(failureOfAnswer(answer, line.context(), error));
  }
  return fail(checkFailure(answer, line.context()));
}
