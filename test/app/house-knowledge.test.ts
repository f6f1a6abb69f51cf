import { describe, expect, it } from 'vitest';
import { houseKnowledge } from '../../src/app/house-knowledge.ts';
import { createVirtualClock, silentLogger } from '../../src/kernel/index.ts';
import { createFakeFeishu } from '../bitable/support/fake-feishu.ts';
import { liveEnv, loadGood } from '../config/installation.ts';

const folder = [{ source: '品牌.md', text: '# 语气\n克制。' }];

async function read(env: Record<string, string>, hasPlatform = true) {
  const client = createFakeFeishu();
  const seen: string[] = [];
  const platform = Object.assign(client, {
    resolveBase: (token: string) => {
      seen.push(token);
      return Promise.resolve({ ok: true as const, value: 'bascnResolved' });
    },
  });
  client.tables.set('tblKnow', {
    fields: [{ fieldId: 'fld1', name: '内容', type: 1, property: {} }],
    rows: new Map([['rec1', { 内容: '真丝可机洗' }]]),
  });
  const ports = { knowledge: () => Promise.resolve(folder), clock: createVirtualClock(), logger: silentLogger };
  const knowledge = houseKnowledge(await loadGood({ ...liveEnv, ...env }), ports, () =>
    hasPlatform ? platform : undefined,
  );
  return { knowledge, seen };
}

describe('the team’s own documents', () => {
  it('are those of the folder alone where no table is named', async () => {
    expect(await (await read({})).knowledge()).toEqual(folder);
  });

  it('are those of the folder and the rows of the table', async () => {
    const { knowledge, seen } = await read({ KNOWLEDGE_TABLE_ID: 'tblKnow' });
    expect(await knowledge()).toEqual([...folder, { source: '知识表 rec1', text: '真丝可机洗' }]);
    expect(seen).toEqual([]);
  });

  it('may lie behind a wiki page, which is resolved once', async () => {
    const wiki = 'https://acme.feishu.cn/wiki/wikcnNode123?table=tblKnow';
    const { knowledge, seen } = await read({ KNOWLEDGE_TABLE_ID: wiki });
    await knowledge();
    await knowledge();
    expect(seen).toEqual(['wiki/wikcnNode123']);
  });

  it('cannot be read without credentials, and say so', async () => {
    const { knowledge } = await read({ KNOWLEDGE_TABLE_ID: 'tblKnow' }, false);
    await expect(knowledge()).rejects.toThrow('no credentials');
  });
});
