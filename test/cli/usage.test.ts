import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/cli/catalogue.ts';
import { inProcess } from './kit.ts';

describe('the command line', () => {
  it('lists every command of the contract, and without a word says that one is missing', async () => {
    const help = await inProcess(['--help'], {});
    expect(help.code).toBe(0);
    const inContract =
      'start demo simulate init doctor validate run executions show rerun cancel resolve events ledger balances pause resume serve';
    for (const name of inContract.split(' ')) expect(help.out).toContain(`\n  ${name}`);
    expect((await inProcess([], {})).code).toBe(2);
  });

  it('knows no other command', async () => {
    const ran = await inProcess(['frobnicate'], {});
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('no command "frobnicate"');
  });

  it.each(catalogue.map(({ name }) => name))('%s --help tells its options and does nothing', async (name) => {
    const ran = await inProcess([name, '--help'], {});
    expect(ran.code).toBe(0);
    const options = Object.keys(catalogue.find((each) => each.name === name)?.options ?? {});
    for (const option of options) expect(ran.out).toContain(`--${option}`);
  });

  it.each(catalogue)('$name refuses an option that it does not know, with its usage', async ({ name, words }) => {
    const filled = Array.from({ length: words[0] }, () => 'x');
    const ran = await inProcess([name, ...filled, '--frobnicate'], {});
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(`usage: gridloom ${name}`);
  });

  it.each(catalogue)('$name refuses a word too many', async ({ name, words }) => {
    const ran = await inProcess([name, ...Array.from({ length: words[1] + 1 }, () => 'x')], {});
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('too many words');
  });

  it.each(catalogue.filter(({ words }) => words[0] > 0))('$name says that its word is missing', async ({ name }) => {
    expect((await inProcess([name], {})).code).toBe(2);
  });

  const sandbox = { GRIDLOOM_MODE: 'sandbox' };
  it.each([
    ['start', '--port', 'seventy'],
    ['start', '--port', '70000'],
    ['serve', '--port', '-1x'],
    ['demo', '--limit', 'soon'],
    ['simulate', '--seeds', '0'],
    ['simulate', '--first', 'x'],
    ['events', '--after', 'x'],
    ['executions', '--limit', '0'],
    ['executions', '--status', 'sleeping'],
    ['ledger', '--month', '2026-13'],
    ['ledger', '--by', 'colour'],
    ['run', 'content'],
    ['run', 'no-such-workflow', '--dry-run'],
    ['run', 'content', '--input', '/nowhere/input.yaml'],
    ['resolve', '01a22f00-d952-7000-a107-6b708a26e01f'],
    ['resolve', '01a22f00-d952-7000-a107-6b708a26e01f', '--accepted', 'x', '--not-accepted'],
    ['init'],
  ])('refuses bad values with the usage: %s %s %s', async (...args) => {
    const ran = await inProcess(args, sandbox);
    expect(ran.code, ran.err).toBe(2);
    expect(ran.err).toContain(`usage: gridloom ${args[0]}`);
    expect(ran.out).toBe('');
  });
});
