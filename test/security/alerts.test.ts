import { expect, it } from 'vitest';
import { sandboxVariables } from '../../src/app/index.ts';
import { createMonitoring } from '../../src/app/monitoring.ts';
import { createDirectoryFiles, loadConfig } from '../../src/config/index.ts';
import { projectDirectory } from '../support/outside.ts';
import { createKit } from '../monitor/kit.ts';

it('P174 an alert that carries an unforeseen error shows neither keys nor signed links', async () => {
  const sandbox = { ...sandboxVariables('http://127.0.0.1:1', new Map()), KIE_API_KEY: 'canary-kie-alert' };
  const config = await loadConfig({ files: createDirectoryFiles(projectDirectory), env: {}, sandbox });
  if (!config.ok) throw new Error(JSON.stringify(config.failure));
  const kit = createKit();
  const sent: string[] = [];
  const { alerter } = createMonitoring({
    config: config.value,
    ports: {
      ...kit,
      fetch: (_url: string, init: { readonly body?: unknown }) => {
        sent.push(String(init.body));
        return Promise.resolve(Response.json({ code: 200 }));
      },
      freeBytes: () => Promise.resolve(1),
    } as never,
    engine: {} as never,
    providers: new Map(),
    feishu: undefined,
    life: { startedAt: 0, lastTickAt: null, lagMs: () => 0 },
    feishuCalls: () => ({ thisMonth: 0, monthlyBudget: 0 }),
  });
  alerter.start();
  await alerter.alert({
    title: '主循环异常 canary-kie-alert',
    text: 'Error: POST https://x.example/a?Signature=canary-signed Authorization: Bearer canary-kie-alert 13912345678',
    severity: 'fatal',
  });
  await kit.clock.advance(60_000);
  const told = JSON.stringify([alerter.recent(), sent, await kit.store.documents('alerts')]);
  expect(sent.length).toBeGreaterThan(0);
  expect(told).toContain('主循环异常 [secret]');
  expect(told).not.toMatch(/canary|13912345678/);
});
