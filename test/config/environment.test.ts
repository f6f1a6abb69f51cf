import { describe, expect, it } from 'vitest';
import { loadConfig, readMode } from '../../src/config/index.ts';
import { faultsOf, liveEnv, load, loadGood, shipped } from './installation.ts';

const without = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(liveEnv).filter(([name]) => !names.includes(name)));

describe('the environment', () => {
  it('is the sandbox without credentials, with the contract’s defaults', async () => {
    const { environment, activeProviders } = await loadGood();
    expect(environment).toMatchObject({
      mode: 'sandbox',
      dataDir: 'data',
      monitorDir: 'webmon',
      timezone: 'Asia/Shanghai',
      noProxyForApi: true,
      switches: { SB_CONFIRM: true },
    });
    expect(environment.feishu).toBeUndefined();
    expect(activeProviders).toEqual([]);
  });

  it('is live with credentials, and keeps secrets from being printed', async () => {
    const config = await loadGood(liveEnv);
    expect(config.environment.mode).toBe('live');
    expect(config.environment.feishu?.baseUrl).toBe('https://open.feishu.cn');
    expect(config.environment.tables.get('try-on')).toEqual({
      base: { kind: 'base', appToken: 'bascn1234567890' },
      tableId: 'tblTryOn1',
    });
    expect(config.activeProviders.map((provider) => provider.id)).toEqual(
      expect.arrayContaining(['kie', 'llm-primary']),
    );
    expect(JSON.stringify(config)).not.toMatch(/secret-of-the-app|kie-key|llm-key/);
  });

  it.each([
    ['FEISHU_APP_SECRET', without('FEISHU_APP_SECRET')],
    ['FEISHU_APP_ID', without('FEISHU_APP_ID')],
    ['BITABLE_APP_TOKEN', without('BITABLE_APP_TOKEN')],
    ['TRY_ON_TABLE_ID', without('TRY_ON_TABLE_ID')],
    ['KIE_API_KEY', without('KIE_API_KEY')],
    ['LLM_PRIMARY_API_KEY', without('LLM_PRIMARY_API_KEY')],
    ['LLM_PRIMARY_BASE_URL', without('LLM_PRIMARY_BASE_URL')],
    ['LLM_PRIMARY_MODEL', without('LLM_PRIMARY_MODEL')],
  ])('names %s when live lacks it', async (name, env) => {
    expect((await faultsOf(env)).join('\n')).toMatch(new RegExp(`${name}.*is missing`));
  });

  it('names everything that a forced live mode lacks at once', async () => {
    const faults = (await faultsOf({ GRIDLOOM_MODE: 'live' })).join('\n');
    for (const name of ['FEISHU_APP_ID', 'FEISHU_APP_SECRET', 'BITABLE_APP_TOKEN', 'TRY_ON_TABLE_ID']) {
      expect(faults).toContain(name);
    }
  });

  it('notices a misspelt credential in .env, with its line', async () => {
    const faults = await faultsOf({}, { '.env': '# mine\nFEISHU_APPID=cli_1\nFEISHU_APP_SECRET="s"\n' });
    expect(faults).toContain('.env:2:1  unknown variable FEISHU_APPID  did you mean FEISHU_APP_ID?');
  });

  it('notices unknown names with our beginnings in .env, and leaves strangers alone', async () => {
    const faults = await faultsOf({}, { '.env': 'KIE_REGION=eu\nNODE_OPTIONS=--trace-warnings\nEDITOR=vi\n' });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^\.env:1:1 {2}unknown variable KIE_REGION/);
  });

  it.each([
    ['FEISHU_APPID', 'FEISHU_APP_ID'],
    ['FIESHU_APP_ID', 'FEISHU_APP_ID'],
    ['FEISHU_SECRET', 'FEISHU_APP_SECRET'],
    ['KIE_APIKEY', 'KIE_API_KEY'],
    ['LLM_PRIMARY_BASEURL', 'LLM_PRIMARY_BASE_URL'],
    ['TRYON_TABLE_ID', 'TRY_ON_TABLE_ID'],
    ['PUSH_PLUS_TOKEN', 'PUSHPLUS_TOKEN'],
  ])('takes %s in .env for %s', async (written, meant) => {
    expect((await faultsOf({}, { '.env': `${written}=x\n` })).join('\n')).toContain(
      `unknown variable ${written}  did you mean ${meant}?`,
    );
  });

  it.each(['AI_API_KEY', 'DATABASE_URI', 'XAI_API_KEY', 'API_KEY', 'TABLE_ID', 'NO_PROXY'])(
    'leaves %s of the process alone: it is another program’s',
    async (name) => {
      expect((await load({ [name]: 'x' })).ok).toBe(true);
    },
  );

  it('notices a near miss in the process too where the name begins like ours', async () => {
    expect((await faultsOf({ FEISHU_APP_SECERT: 'x' })).join('\n')).toContain('did you mean FEISHU_APP_SECRET?');
    expect((await faultsOf({ GRIDLOOM_MOD: 'live' })).join('\n')).toContain('did you mean GRIDLOOM_MODE?');
  });

  it('lets the process stand above .env, and takes an empty value for none', async () => {
    const config = await loadGood(
      { GRIDLOOM_TIMEZONE: 'UTC', GRIDLOOM_DATA_DIR: '' },
      { '.env': 'GRIDLOOM_TIMEZONE=Asia/Tokyo\nGRIDLOOM_DATA_DIR=/srv/state' },
    );
    expect(config.environment).toMatchObject({ timezone: 'UTC', dataDir: '/srv/state' });
  });

  it.each([
    ['SB_CONFIRM', 'maybe'],
    ['GRIDLOOM_TIMEZONE', 'Mars/Olympus'],
    ['GRIDLOOM_MODE', 'prod'],
    ['DATABASE_URL', 'mysql://x'],
    ['KIE_BASE_URL', 'ftp://kie.example'],
    ['PUSHPLUS_BASE_URL', 'pushplus'],
    ['HEARTBEAT_URL', 'file:///etc/passwd'],
  ])('refuses %s=%s by name', async (name, value) => {
    expect((await faultsOf({ ...liveEnv, [name]: value })).join('\n')).toContain(name);
  });

  it.each(['https://v.example/v1/', 'https://v.example/v1', 'https://v.example/v1/chat/completions'])(
    'P024 makes one address of %s',
    async (url) => {
      const config = await loadGood({ ...liveEnv, LLM_PRIMARY_BASE_URL: url });
      const primary = config.activeProviders.find((provider) => provider.id === 'llm-primary');
      expect(primary?.account.baseUrl).toBe('https://v.example/v1');
    },
  );

  it('reads links of bases, wiki pages and tables', async () => {
    const config = await loadGood({
      ...liveEnv,
      BITABLE_APP_TOKEN: 'https://acme.feishu.cn/wiki/WnodeX12345?from=copy',
      TRY_ON_TABLE_ID: 'tblX#',
      CONTENT_TABLE_ID: 'bascnOther12345/tblContent',
      DECK_TABLE_ID: 'https://acme.feishu.cn/base/bascnDeck123?table=tblDeck&view=vew1',
    });
    const { base, tables } = config.environment;
    expect(base).toEqual({ kind: 'wiki', nodeToken: 'WnodeX12345' });
    expect(tables.get('try-on')).toEqual({ base, tableId: 'tblX' });
    if (tables.has('content')) {
      expect(tables.get('content')).toEqual({
        base: { kind: 'base', appToken: 'bascnOther12345' },
        tableId: 'tblContent',
      });
    }
  });

  it.each(['wbpX', 'ldxX', 'blkX', 'https://acme.feishu.cn/base/bascn123456?table=wbpX'])(
    'P016 refuses %s as a table and says what to copy',
    async (id) => {
      expect((await faultsOf({ ...liveEnv, TRY_ON_TABLE_ID: id })).join('\n')).toMatch(/TRY_ON_TABLE_ID.*data table/);
    },
  );

  it('reads the table of the team’s knowledge, in the common base or in its own; no agent runs on it', async () => {
    const common = await loadGood({ ...liveEnv, KNOWLEDGE_TABLE_ID: 'tblKnow' });
    expect(common.environment.knowledgeTable).toEqual({ base: common.environment.base, tableId: 'tblKnow' });
    expect([...common.environment.tables.values()].map((table) => table.tableId)).not.toContain('tblKnow');
    const own = await loadGood({ ...liveEnv, KNOWLEDGE_TABLE_ID: 'bascnOther123/tblKnow' });
    expect(own.environment.knowledgeTable?.base).toEqual({ kind: 'base', appToken: 'bascnOther123' });
    expect((await faultsOf({ ...liveEnv, KNOWLEDGE_TABLE_ID: 'wbpX' })).join('\n')).toMatch(/KNOWLEDGE_TABLE_ID/);
  });

  it('takes what speaks to the outside from the sandbox alone when sandboxed', async () => {
    const loaded = await loadConfig({
      files: shipped({ '.env': 'KIE_API_KEY=real-key\nFEISHU_APP_ID=cli_real\nFEISHU_APP_SECRET=real\n' }),
      env: { TOAPIS_API_KEY: 'real', SB_CONFIRM: '0' },
      sandbox: {
        KIE_API_KEY: 'play',
        KIE_BASE_URL: 'http://127.0.0.1:4000/kie',
        FEISHU_APP_ID: 'cli_sandbox',
        FEISHU_APP_SECRET: 'x',
      },
    });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.failure));
    const { environment, activeProviders } = loaded.value;
    expect(environment.mode).toBe('sandbox');
    expect(environment.feishu?.appId).toBe('cli_sandbox');
    expect(environment.switches['SB_CONFIRM']).toBe(false);
    expect(activeProviders.map((provider) => [provider.id, provider.account.key.reveal()])).toEqual([['kie', 'play']]);
  });

  it('tells the mode before anything else is read', async () => {
    expect(await readMode({ files: shipped(), env: {} })).toBe('sandbox');
    expect(await readMode({ files: shipped(), env: liveEnv })).toBe('live');
    expect(await readMode({ files: shipped(), env: { ...liveEnv, GRIDLOOM_MODE: 'sandbox' } })).toBe('sandbox');
  });

  it('sends vendors direct unless told otherwise', async () => {
    const proxyOf = async (env: Record<string, string>): Promise<string | undefined> =>
      (await loadGood({ ...liveEnv, ...env })).activeProviders.find((provider) => provider.id === 'kie')?.account.proxy;
    expect(await proxyOf({})).toBe('direct');
    expect(await proxyOf({ NO_PROXY_FOR_API: '0' })).toBe('env');
  });

  it('does not run agents whose table is not named', async () => {
    expect([...(await loadGood(liveEnv)).environment.tables.keys()]).toEqual(['try-on']);
    expect((await load(liveEnv)).ok).toBe(true);
  });
});
