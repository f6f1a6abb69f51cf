import type { SetupChoices, SetupStep } from '../../feishu/index.ts';
import { type CommandInput, textFlag } from '../command.ts';
import { askBase, enterBase, findApp } from './credentials.ts';
import { type App, type Hour, stepsOf, walkStep, withLongConnection } from './hour.ts';
import { askKeys } from './keys.ts';
import { botColumnsOf, chooseAgents, type MadeTable, makeTables } from './tables.ts';

/**
 * The first hour in the order in which it works: company account and app, the base and the agents, the console (with the
 * long connection held open while it is chosen there), the app into the base, tables and columns, the group, keys, and
 * how to lock the bot's columns. Nobody to answer: the same without the waits, and the console's steps are printed.
 */
export async function guide(hour: Hour, input: CommandInput): Promise<{ readonly tables: readonly MadeTable[] }> {
  const app = await findApp(hour);
  const base = await askBase(hour);
  const agents = await chooseAgents(hour, textFlag(input, 'agents'));
  const chat = hour.known('ALERT_CHAT_ID', 'chat');
  const choices: SetupChoices = {
    appId: app.appId,
    baseUrl: app.baseUrl,
    isWiki: base.isWiki,
    wantsGroup: chat !== undefined || (await wantsGroup(hour)),
    wantsWakeups: hour.config.settings.feishu.wakeups,
    botColumns: botColumnsOf(agents),
  };
  const steps = stepsOf(choices);
  if (!hour.asker.isSilent) await walkConsole(hour, app, steps);
  const appToken = await enterBase(hour, app, base);
  hour.say('');
  const tables = await makeTables(hour, app, appToken, agents);
  await nameGroup(hour, steps.get('group'), chat);
  await askKeys(hour);
  if (hour.asker.isSilent) {
    hour.say('');
    hour.say('what only a person can do, in the console and in the base:');
    for (const step of [...steps.values()].filter(({ id }) => id !== 'lock-columns')) await walkStep(hour, step);
  }
  const lock = steps.get('lock-columns');
  if (lock !== undefined) await walkStep(hour, lock);
  return { tables };
}

const beforeConnection = ['bot-ability', 'scopes'] as const;
const duringConnection = ['long-connection', 'event'] as const;
const afterConnection = ['release', 'base-manager'] as const;

async function walkConsole(hour: Hour, app: App, steps: ReadonlyMap<SetupStep['id'], SetupStep>): Promise<void> {
  const walk = async (ids: readonly SetupStep['id'][]): Promise<void> => {
    for (const id of ids) {
      const step = steps.get(id);
      if (step !== undefined) await walkStep(hour, step);
    }
  };
  await walk(beforeConnection);
  if (steps.has('long-connection')) await withLongConnection(hour, app, async () => await walk(duringConnection));
  await walk(afterConnection);
}

async function wantsGroup(hour: Hour): Promise<boolean> {
  if (hour.asker.isSilent) return false;
  const answer = await hour.asker.ask('Shall hints and alerts go to a Feishu group (y/n)', 'y');
  return /^(y|yes|是|好)$/i.test(answer);
}

async function nameGroup(hour: Hour, step: SetupStep | undefined, known: string | undefined): Promise<void> {
  if (step === undefined) return;
  if (!hour.asker.isSilent) await walkStep(hour, step);
  for (;;) {
    const chat = hour.asker.isSilent
      ? (known ?? '')
      : await hour.asker.ask('Id of the group (oc_…, Enter: none)', known);
    if (chat === '') return;
    if (chat.startsWith('oc_')) {
      await hour.envFile.set({ ALERT_CHAT_ID: chat });
      return;
    }
    hour.say(`"${chat}" is no group id; it begins with "oc_"`);
    if (hour.asker.isSilent) return;
  }
}
