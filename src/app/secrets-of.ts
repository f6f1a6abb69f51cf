import type { LoadedConfig } from '../config/index.ts';
import { Secret } from '../kernel/index.ts';

/** Every secret in use, so that log and alerts can be cleaned of all of them. */
export function secretsOf(config: LoadedConfig): readonly Secret[] {
  const { feishu, pushplus, databaseUrl, heartbeatUrl } = config.environment;
  return [
    ...config.activeProviders.map((provider) => provider.account.key),
    ...(feishu === undefined ? [] : [feishu.appSecret]),
    ...(pushplus === undefined ? [] : [pushplus.token]),
    ...(databaseUrl === undefined ? [] : [databaseUrl]),
    // Whoever knows it can say that this worker lives.
    ...(heartbeatUrl === undefined ? [] : [new Secret(heartbeatUrl)]),
  ];
}
