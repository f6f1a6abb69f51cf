import type { ProviderDeps } from '../../contract/index.ts';
import type { VendorLine } from '../common/index.ts';
import { readEnvelope } from './codes.ts';

/** A temporary address, good for 20 minutes. 422: not a file of kie's; any other refusal: there is none either. */
export async function askFreshLink(
  fileUrl: string,
  baseUrl: string,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const url = `${baseUrl}/api/v1/common/download-url`;
  const answer = await line.send(
    { method: 'POST', url, body: { json: { url: fileUrl } } },
    deps.timeouts.queryMs,
    signal,
  );
  const envelope = answer.kind === 'json' ? readEnvelope(answer) : undefined;
  const fresh: unknown = envelope?.code === 200 ? envelope.data : undefined;
  return typeof fresh === 'string' && /^https?:\/\//.test(fresh) ? fresh : undefined;
}
