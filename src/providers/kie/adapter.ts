import type { ProviderFactory } from '../../contract/index.ts';
import { createTaskAdapter, createVendorLine } from '../common/index.ts';
import { normaliseBaseUrl } from '../http/index.ts';
import { readKieBalance } from './balance.ts';
import { askFreshLink } from './fresh-link.ts';
import { createMarketDialect } from './market.ts';
import { createKieUpload } from './upload.ts';
import { createVeoDialect } from './veo.ts';

const defaultUploadBaseUrl = 'https://kieai.redpandaai.co';

/** kie.ai: the market API and the Veo API of one account. No client id, no list, no cancel: a lost submit stays unknown. */
export const createKieProvider: ProviderFactory = (deps) => {
  const line = createVendorLine(deps);
  const baseUrl = normaliseBaseUrl(deps.account.baseUrl, ['/api/v1', '/api', '/v1']);
  const uploadBaseUrl = normaliseBaseUrl(deps.account.uploadBaseUrl ?? defaultUploadBaseUrl, ['/api']);
  const upload = createKieUpload(uploadBaseUrl, line, deps);
  return {
    account: deps.account.id,
    adapters: [
      createTaskAdapter(deps, line, createMarketDialect(baseUrl, upload, deps)),
      createTaskAdapter(deps, line, createVeoDialect(baseUrl, upload, deps)),
    ],
    freshLink: async (url, signal) => await askFreshLink(url, baseUrl, line, deps, signal),
    balance: async (signal) => await readKieBalance(baseUrl, line, deps, signal),
  };
};
