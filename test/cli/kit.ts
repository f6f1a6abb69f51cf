import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../src/cli/index.ts';
import { projectDirectory } from '../support/outside.ts';

/** What a command came to. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Env = Readonly<Record<string, string>>;

/** The real program, in a process of its own. */
export async function gridloom(args: readonly string[], env: Env): Promise<Ran> {
  const child = spawn(process.execPath, [join(projectDirectory, 'bin', 'gridloom.mjs'), ...args], {
    cwd: projectDirectory,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { out: '', err: '' };
  for (const name of ['out', 'err'] as const) {
    const stream = name === 'out' ? child.stdout : child.stderr;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', (ended) => resolve(ended));
  });
  return { code, ...texts };
}

/** The same without a process, for what needs none: quicker. */
export async function inProcess(args: readonly string[], env: Env, directory = projectDirectory): Promise<Ran> {
  const texts = { out: '', err: '' };
  const code = await runCli(args, {
    out: (line) => {
      texts.out += `${line}\n`;
    },
    err: (line) => {
      texts.err += `${line}\n`;
    },
    env,
    directory,
  });
  return { code, ...texts };
}

/** An installation of its own, with the shipped configuration and no `.env` yet. */
export async function openInstallation(): Promise<{ readonly directory: string; close(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'gridloom-inst-'));
  await symlink(join(projectDirectory, 'config'), join(directory, 'config'));
  await mkdir(join(directory, 'webmon'));
  return { directory, close: async () => await rm(directory, { recursive: true, force: true }) };
}

/** The environment without what `init` is to find out. */
export function withoutSetup(env: Env): Env {
  const isFoundOut = /^(FEISHU_APP_ID|FEISHU_APP_SECRET|BITABLE_APP_TOKEN|ALERT_CHAT_ID|GRIDLOOM_MODE)$|_TABLE_ID$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isFoundOut.test(name)));
}
