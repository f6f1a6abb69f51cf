import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readShipped } from '../../src/app/reading.ts';
import { createProbePorts } from '../../src/app/working.ts';
import { type Asker, BrokenOffError } from '../../src/cli/init/asker.ts';
import { openEnvFile, withVariable } from '../../src/cli/init/env-file.ts';
import { guide } from '../../src/cli/init/guide.ts';
import { openOutside, type Outside } from '../support/outside.ts';
import { gridloom, inProcess, openInstallation, withoutSetup } from './kit.ts';

let outside: Outside;
let directory: string;
let closeInstallation: () => Promise<void>;
beforeEach(async () => {
  outside = await openOutside('try-on', undefined, []);
  const installation = await openInstallation();
  ({ directory } = installation);
  closeInstallation = async () => await installation.close();
});
afterEach(async () => {
  await outside.close();
  await closeInstallation();
});

const envText = async (): Promise<string> => await readFile(join(directory, '.env'), 'utf8');

function flags(): readonly string[] {
  const { FEISHU_APP_ID: id = '', FEISHU_APP_SECRET: secret = '', BITABLE_APP_TOKEN: base = '' } = outside.env;
  const link = `https://team.feishu.cn/base/${base}?table=tblWhatever&view=vewX`;
  return ['init', '--yes', '--app-id', id, '--app-secret', secret, '--base', link];
}

describe('init --yes', () => {
  it('makes the tables of the chosen agents in an empty base and names them in .env, which it alone may read', async () => {
    await writeFile(join(directory, '.env'), '# mine\nSB_CONFIRM=0\nCONTENT_TABLE_ID=\n', { mode: 0o644 });
    const env = { ...withoutSetup(outside.env), GRIDLOOM_DIRECTORY: directory };
    const ran = await gridloom([...flags(), '--agents', 'content,deck', '--chat', 'oc_group', '--json'], env);
    expect(ran.err).toBe('');
    expect(ran.code).toBe(0);
    const report = JSON.parse(ran.out) as { tables: { agent: string; table_id: string; is_new: boolean }[] };
    expect(report.tables.map(({ agent, is_new: isNew }) => [agent, isNew])).toEqual([
      ['content', true],
      ['deck', true],
    ]);
    const text = await envText();
    expect(text).toMatch(/^# mine\nSB_CONFIRM=0\nCONTENT_TABLE_ID=tbl\w+\n/);
    for (const name of ['FEISHU_APP_SECRET', 'BITABLE_APP_TOKEN', 'DECK_TABLE_ID', 'ALERT_CHAT_ID'])
      expect(text).toMatch(new RegExp(`^${name}=.+$`, 'm'));
    expect((await stat(join(directory, '.env'))).mode & 0o777).toBe(0o600);
  });

  it('what it made is what the doctor wants; a second run changes nothing and makes nothing', async () => {
    const env = withoutSetup(outside.env);
    expect((await inProcess([...flags(), '--agents', 'all'], env, directory)).code).toBe(0);
    const text = await envText();
    const made = outside.sandbox.books.calls();
    const again = await inProcess(['init', '--yes'], env, directory);
    expect(again.code, again.err).toBe(0);
    expect(again.out).toContain('nothing added');
    expect(await envText()).toBe(text);
    for (const name of ['feishu.tables.create', 'feishu.fields.create'])
      expect(outside.sandbox.books.calls()[name]).toBe(made[name]);
    const doctor = await inProcess(['doctor'], { ...env, GRIDLOOM_MODE: 'live' }, directory);
    expect(doctor.out).toContain('no fault found');
  });

  it('adds what is missing to a table that was there, and leaves what it does not know', async () => {
    const { env } = outside;
    await outside.close();
    outside = await openOutside('content', undefined, [
      {
        name: '我们的内容表',
        tableId: 'tblTeam',
        columns: [
          { name: '标题', type: 1 },
          { name: '需求', type: 1 },
          { name: '操作', type: 3, options: ['提交'] },
        ],
      },
    ]);
    expect(env).not.toBe(outside.env);
    const ran = await inProcess(
      [...flags(), '--agents', 'content', '--json'],
      { ...withoutSetup(outside.env), CONTENT_TABLE_ID: 'tblTeam' },
      directory,
    );
    const { tables } = JSON.parse(ran.out) as { tables: { is_new: boolean; created: string[] }[] };
    expect(tables[0]?.is_new).toBe(false);
    expect(tables[0]?.created).toContain('状态');
    expect(tables[0]?.created).not.toContain('需求');
    expect(tables[0]?.created).not.toContain('操作');
  });

  it.each([
    ['a wrong secret', ['--app-secret', 'wrong'], 1, 'FEISHU_APP_SECRET'],
    ['no app id', ['--app-id', 'wrong'], 2, 'cli_'],
    ['the link of another page', ['--base', 'https://team.feishu.cn/docx/abc'], 2, 'base'],
    ['an agent that there is not', ['--agents', 'painter'], 2, 'try-on'],
    ['a base that the app is not in', ['--base', 'basNoSuchBase000000000000'], 1, '→'],
  ])('says what to do about %s', async (_name, changed, code, words) => {
    const ran = await inProcess([...flags(), ...changed], withoutSetup(outside.env), directory);
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(words);
  });

  it('says early that a company account is needed, and how to lock the bot’s columns at the end', async () => {
    const ran = await inProcess([...flags(), '--agents', 'content'], withoutSetup(outside.env), directory);
    expect(ran.out).toContain('company');
    expect(ran.out).toMatch(/高级权限[^]*状态 报错 成本\(元\)/);
    expect(ran.out).toContain('auth?q=bitable:app');
  });
});

describe('the guided hour', () => {
  const asked: string[] = [];
  /** Answers by the first words of the question; notes what was asked. */
  function person(answers: Readonly<Record<string, string | readonly string[]>>): Asker {
    const left = new Map(Object.entries(answers).map(([start, given]) => [start, [given].flat()]));
    const reply = (question: string, preset: string): string => {
      asked.push(question.trim());
      const start = [...left.keys()].find((each) => question.trim().startsWith(each));
      return (start === undefined ? undefined : left.get(start)?.shift()) ?? preset;
    };
    return {
      isSilent: false,
      ask: (question, preset) => Promise.resolve(reply(question, preset ?? '')),
      askSecret: (question) => Promise.resolve(reply(question, '')),
      close: () => undefined,
    };
  }

  async function play(asker: Asker): Promise<{ said: readonly string[]; done: Promise<unknown> }> {
    const env = withoutSetup(outside.env);
    const read = await readShipped({ directory, env: { ...env, GRIDLOOM__FEISHU__WAKEUPS: 'true' } });
    if (!read.ok) throw new Error('the shipped configuration is not sound');
    const ports = createProbePorts(read.value);
    const envFile = await openEnvFile(directory);
    const said: string[] = [];
    const known = (name: string): string | undefined =>
      (name.startsWith('FEISHU_BASE') ? env[name] : undefined) ?? envFile.get(name);
    const hour = { config: read.value, ports, asker, envFile, say: (line: string) => said.push(line), known };
    const done = guide(hour, { positionals: [], flags: {}, json: false }).finally(async () => await ports.close());
    return { said, done };
  }

  it('asks again after a wrong secret, holds the long connection open while it is chosen, and keeps every answer', async () => {
    asked.length = 0;
    const asker = person({
      'App ID': ['oops', outside.env['FEISHU_APP_ID'] ?? ''],
      'App Secret': ['wrong', outside.env['FEISHU_APP_SECRET'] ?? ''],
      'Link of the base': ['no link at all', 'basNotThere00000', outside.env['BITABLE_APP_TOKEN'] ?? ''],
      'Which agents': ['painter', 'content'],
      'Shall hints': 'y',
      'Id of the group': ['group', 'oc_group'],
      KIE_API_KEY: 'k#1',
    });
    const { said, done } = await play(asker);
    await done;
    const text = await envText();
    expect(text).toMatch(/^CONTENT_TABLE_ID=tbl/m);
    expect(text).toMatch(/^ALERT_CHAT_ID=oc_group$/m);
    expect((await openEnvFile(directory)).get('KIE_API_KEY')).toBe('k#1');
    expect(asked.filter((question) => question === 'App Secret')).toHaveLength(2);
    const titles = said.filter((line) => line.startsWith('■')).map((line) => line.slice(2));
    expect(titles.slice(0, 5)).toEqual([
      'A company account',
      'Create the app',
      'Give the app a bot',
      'Grant the scopes',
      'Choose the long connection',
    ]);
    expect(titles.at(-1)).toContain('Lock the columns');
    expect(outside.sandbox.books.calls()['feishu.ws.endpoint']).toBeGreaterThan(0);
    expect(said.join('\n')).toContain('the long connection is');
  });

  it('broken off in the middle, it keeps what it has learned', async () => {
    const asker = person({
      'App ID': outside.env['FEISHU_APP_ID'] ?? '',
      'App Secret': outside.env['FEISHU_APP_SECRET'] ?? '',
    });
    const { done } = await play({
      ...asker,
      ask: async (question, preset) => {
        if (question.startsWith('Link of')) throw new BrokenOffError('broken off');
        return await asker.ask(question, preset);
      },
    });
    await expect(done).rejects.toBeInstanceOf(BrokenOffError);
    expect(await envText()).toContain(`FEISHU_APP_ID=${outside.env['FEISHU_APP_ID']}`);
  });
});

describe('.env', () => {
  it('sets a variable in its own line, the last where there are several, and keeps everything else', () => {
    const text = '# a\nA=1\nexport B=2\nA=3 # note\n';
    expect(withVariable(text, 'A', 'x y')).toBe("# a\nA=1\nexport B=2\nA='x y'\n");
    expect(withVariable(text, 'B', '4')).toBe('# a\nA=1\nB=4\nA=3 # note\n');
    expect(withVariable('', 'C', "it's")).toBe('C="it\'s"\n');
  });
});
