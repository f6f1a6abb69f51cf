import type { ProviderFactory } from '../../contract/index.ts';
import { createTaskAdapter, createVendorLine } from '../common/index.ts';
import { normaliseBaseUrl } from '../http/index.ts';
import { readToapisBalance } from './balance.ts';
import { createToapisDialect } from './dialect.ts';
import { createToapisUpload } from './upload.ts';

/** toapis: pictures and videos; a lost submit is found again by our own id (`client_business_id`). */
export const createToapisProvider: ProviderFactory = (deps) => {
  const line = createVendorLine(deps);
  const baseUrl = normaliseBaseUrl(deps.account.baseUrl, ['/v1']);
  const upload = createToapisUpload(baseUrl, line, deps);
  return {
    account: deps.account.id,
    adapters: [
      createTaskAdapter(deps, line, createToapisDialect('image', baseUrl, upload, line, deps)),
      createTaskAdapter(deps, line, createToapisDialect('video', baseUrl, upload, line, deps)),
    ],
    balance: async (signal) => await readToapisBalance(baseUrl, line, deps, signal),
  };
};
