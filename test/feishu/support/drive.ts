import { adler32 } from '../../../src/feishu/adler32.ts';
import { type Bench, done, formOf, type Handler, refusal, type SeenRequest, type sourceOf } from './fake-platform.ts';

export const mib = 1024 * 1024;
const blockBytes = 4 * mib;
export const api =
  (handler: Handler): Handler =>
  (request: SeenRequest) =>
    request.path.endsWith('/internal') ? undefined : handler(request);

/** A drive that takes files and remembers what arrived. */
export function drive(before: (request: SeenRequest, count: number) => Response | undefined = () => undefined) {
  let count = 0;
  const parts = new Map<number, Uint8Array>();
  const files: { fields: Record<string, string>; name: string; bytes: Uint8Array }[] = [];
  const handler: Handler = api(async (request) => {
    count += 1;
    const refused = before(request, count);
    if (refused !== undefined) return refused;
    if (request.path.endsWith('upload_prepare')) {
      return done({
        upload_id: `up-${count}`,
        block_size: blockBytes,
        block_num: Math.ceil(request.json.size / blockBytes),
      });
    }
    if (request.path.endsWith('upload_finish')) return done({ file_token: 'boxFinished' });
    const { fields, file } = await formOf(request);
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (Number(fields['size']) !== bytes.length) return refusal(1062009, 400);
    if (Number(fields['checksum']) !== adler32(bytes)) return refusal(1062008, 400);
    if (request.path.endsWith('upload_part')) {
      parts.set(Number(fields['seq']), bytes);
      return done({});
    }
    files.push({ fields, name: file.name, bytes });
    return done({ file_token: 'boxWhole' });
  });
  return { handler, files, parts, whole: () => Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, b]) => b)) };
}

export const upload = (bench: Bench, source: ReturnType<typeof sourceOf>) =>
  bench.run(bench.client.uploadMedia('bascnBase', source));
