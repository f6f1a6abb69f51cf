import { createFeishuClient, type FeishuResult } from '../../../src/feishu/index.ts';
import {
  createIdSource,
  createSeededRandom,
  createVirtualClock,
  Secret,
  silentLogger,
} from '../../../src/kernel/index.ts';
import {
  createInProcessFetch,
  createPlainPainter,
  createSandbox,
  noLatencies,
  sandboxAppToken,
  sandboxCredentials,
} from '../../../src/sandbox/index.ts';
import { runVirtually, testSettings } from './fake-platform.ts';

/** The client against the embedded platform, in process, on a virtual clock. */
export async function sandboxWorld() {
  const clock = createVirtualClock();
  const random = createSeededRandom(11);
  const sandbox = createSandbox({
    clock,
    random,
    baseUrl: 'http://sandbox.test',
    painter: createPlainPainter(),
    latencies: noLatencies,
    tables: [
      {
        name: '试穿',
        tableId: 'tblTryOn',
        columns: [
          { name: '产品说明', type: 1 },
          { name: '操作', type: 3, options: ['提交', '通过'] },
          { name: '状态', type: 3 },
          { name: '成本(元)', type: 2 },
          { name: '上身图', type: 17 },
        ],
      },
    ],
  });
  await sandbox.seed();
  const client = createFeishuClient({
    appId: sandboxCredentials.appId,
    appSecret: new Secret(sandboxCredentials.appSecret),
    baseUrl: 'http://sandbox.test/feishu',
    fetch: createInProcessFetch(sandbox),
    clock,
    random,
    ids: createIdSource(clock, random),
    logger: silentLogger,
    settings: testSettings(),
  });
  const run = async <T>(work: Promise<FeishuResult<T>>): Promise<T> => {
    const answer = await runVirtually(clock, work);
    if (!answer.ok) throw new Error(answer.failure.message);
    return answer.value;
  };
  const refused = async (work: Promise<FeishuResult<unknown>>) => {
    const answer = await runVirtually(clock, work);
    if (answer.ok) throw new Error('was expected to be refused');
    return answer.failure;
  };
  return { clock, sandbox, client, run, refused, table: { appToken: sandboxAppToken, tableId: 'tblTryOn' } };
}
