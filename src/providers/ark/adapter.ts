import type { ProviderFactory } from '../../contract/index.ts';
import { createTaskAdapter, createVendorLine } from '../common/index.ts';
import { normaliseBaseUrl } from '../http/index.ts';
import { createArkImageDialect } from './image.ts';
import { createArkVideoDialect } from './video.ts';

/** Volcengine Ark: Seedream pictures at once, Seedance films as tasks. Its balance needs other credentials. */
export const createArkProvider: ProviderFactory = (deps) => {
  const line = createVendorLine(deps);
  const baseUrl = withVersion(
    normaliseBaseUrl(deps.account.baseUrl, ['/contents/generations/tasks', '/images/generations']),
  );
  return {
    account: deps.account.id,
    adapters: [
      createTaskAdapter(deps, line, createArkImageDialect(baseUrl, deps)),
      createTaskAdapter(deps, line, createArkVideoDialect(baseUrl, line, deps)),
    ],
  };
};

/** A bare host gets the version path; plan addresses (`/api/plan/v3`) stay as they are. */
function withVersion(baseUrl: string): string {
  return URL.parse(baseUrl)?.pathname === '/' ? `${baseUrl}/api/v3` : baseUrl;
}
