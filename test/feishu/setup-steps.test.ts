import { describe, expect, it } from 'vitest';
import { setupSteps } from '../../src/feishu/index.ts';

describe('the guided first hour', () => {
  const choices = {
    baseUrl: 'https://open.feishu.cn',
    isWiki: false,
    wantsGroup: true,
    wantsWakeups: true,
    botColumns: ['状态', '报错'],
  };

  it('begins with the company account, and saves the long connection while one is open, before the release', () => {
    const steps = setupSteps(choices);
    expect(steps.map((step) => step.id)).toEqual([
      'tenant',
      'create-app',
      'bot-ability',
      'scopes',
      'long-connection',
      'event',
      'release',
      'base-manager',
      'group',
      'lock-columns',
    ]);
    expect(steps.filter((step) => step.needsOpenConnection === true).map((step) => step.id)).toEqual([
      'long-connection',
    ]);
    expect(steps.at(-1)?.lines).toContain('状态 报错');
  });

  it('leaves out what is not wanted, and asks for the wiki’s scope where the base lies in one', () => {
    const steps = setupSteps({
      ...choices,
      appId: 'cli_0123456789abcdef',
      isWiki: true,
      wantsGroup: false,
      wantsWakeups: false,
      baseUrl: 'https://open.larksuite.com/',
    });
    expect(steps.map((step) => step.id)).toEqual([
      'tenant',
      'bot-ability',
      'scopes',
      'release',
      'base-manager',
      'lock-columns',
    ]);
    const scopes = steps.find((step) => step.id === 'scopes');
    expect(scopes?.link).toMatch(
      /^https:\/\/open\.larksuite\.com\/app\/cli_0123456789abcdef\/auth\?q=.*wiki:node:read/,
    );
  });
});
