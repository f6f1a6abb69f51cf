import type { Failure, ProviderDeps } from '../../contract/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import { checkFailure, failureOfAnswer, type Upload, uniqueFileName, type VendorLine } from '../common/index.ts';
import { encodeMultipart, type HttpAnswer } from '../http/index.ts';
import { readToapisError } from './codes.ts';
import { uploadSchema } from './wire.ts';

/** The vendor says 10 MB; read as decimal megabytes to be sure. */
const maxUploadBytes = 10_000_000;
const takenTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif']);

/** Uploads are public and free; the vendor takes addresses only, never inline bytes. */
export function createToapisUpload(baseUrl: string, line: VendorLine, deps: ProviderDeps): Upload {
  return async (artifact, bytes, signal) => {
    if (bytes.byteLength > maxUploadBytes || !takenTypes.has(artifact.mime)) {
      return fail({
        kind: 'invalid-input',
        code: 'input.images',
        message: `${artifact.name} (${artifact.mime}, ${bytes.byteLength} bytes): toapis takes JPEG, PNG, WebP or GIF up to ${maxUploadBytes} bytes`,
        provider: deps.account.id,
      });
    }
    const fileName = uniqueFileName(artifact, deps.ids.uuid());
    const form = encodeMultipart(
      [{ name: 'file', value: bytes, fileName, contentType: artifact.mime }],
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
