import type { createProbePorts } from '../../app/working.ts';
import type { LoadedConfig } from '../../config/index.ts';
import {
  type AppPlace,
  createFeishuClient,
  createLongConnection,
  type SetupChoices,
  type SetupStep,
  setupSteps,
} from '../../feishu/index.ts';
import { Secret } from '../../kernel/index.ts';
import type { CommandInput } from '../command.ts';
import { textFlag } from '../command.ts';
import type { Asker } from './asker.ts';
import type { EnvFile } from './env-file.ts';

export type ProbePorts = ReturnType<typeof createProbePorts>;
export type Platform = ReturnType<typeof createFeishuClient>;

/** What the guided hour works with. */
export interface Hour {
  /** The shipped definitions and settings; the environment may not be complete yet. */
  readonly config: LoadedConfig;
  readonly ports: ProbePorts;
  readonly asker: Asker;
  readonly envFile: EnvFile;
  /** Words for the person. */
  readonly say: (line: string) => void;
  /** A flag, else the process's environment, else `.env`. */
  readonly known: (name: string, flag?: string) => string | undefined;
}

/** Why the hour cannot go on: what to print, and the exit code. */
export class HourFault extends Error {
  override readonly name = 'HourFault';
  readonly exitCode: 1 | 2;

  constructor(exitCode: 1 | 2, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function knownFrom(input: CommandInput, env: Readonly<Record<string, string | undefined>>, envFile: EnvFile) {
  return (name: string, flag?: string): string | undefined => {
    const fromFlag = flag === undefined ? undefined : textFlag(input, flag);
    const fromEnv = env[name]?.trim();
    return fromFlag ?? (fromEnv === undefined || fromEnv === '' ? envFile.get(name) : fromEnv);
  };
}

export interface App extends AppPlace {
  readonly appSecret: Secret;
  readonly client: Platform;
}

export function openApp(hour: Hour, appId: string, appSecret: string): App {
  const baseUrl = hour.known('FEISHU_BASE_URL') ?? 'https://open.feishu.cn';
  const secret = new Secret(appSecret);
  const client = createFeishuClient({
    appId,
    appSecret: secret,
    baseUrl,
    ...hour.ports,
    settings: hour.config.settings,
    proxy: 'direct',
  });
  return { appId, appSecret: secret, baseUrl, client };
}

/** A step of the console, told; a person then does it. */
export async function walkStep(hour: Hour, step: SetupStep): Promise<void> {
  hour.say('');
  hour.say(`■ ${step.title}`);
  if (step.link !== undefined) hour.say(`  ${step.link}`);
  for (const line of step.lines) hour.say(`  ${line}`);
  if (!hour.asker.isSilent) await hour.asker.ask('  Enter when it is done (or to leave it for later)');
}

/** The steps by name, for what has been chosen so far. */
export function stepsOf(choices: SetupChoices): ReadonlyMap<SetupStep['id'], SetupStep> {
  return new Map(setupSteps(choices).map((step) => [step.id, step]));
}

/**
 * Runs `during` with the long connection held open: the console saves 长连接 only while a client is connected. Whether it
 * came up is told, and is no reason to stop.
 */
export async function withLongConnection(hour: Hour, app: App, during: () => Promise<void>): Promise<void> {
  const source = createLongConnection({ ...app, ...hour.ports, proxy: 'direct' });
  try {
    await source.start(() => undefined);
    await during();
    hour.say(
      source.isAlive()
        ? '  the long connection is up'
        : '  the long connection is not up (yet): see that websockets may leave this network; without it words are found by polling',
    );
  } finally {
    await source.stop();
  }
}
