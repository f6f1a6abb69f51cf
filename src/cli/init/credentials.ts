import { checkBase, checkCredentials, parseBaseSetting } from '../../feishu/index.ts';
import { type App, type Hour, HourFault, openApp, stepsOf, walkStep } from './hour.ts';

const appIdPattern = /^cli_[0-9a-zA-Z]{8,32}$/;
const noChoices = { isWiki: false, wantsGroup: false, wantsWakeups: false, botColumns: [] } as const;

/** App id and secret, tried at once and written to `.env` when they are accepted. */
export async function findApp(hour: Hour): Promise<App> {
  const baseUrl = hour.known('FEISHU_BASE_URL') ?? 'https://open.feishu.cn';
  let appId = hour.known('FEISHU_APP_ID', 'app-id');
  let secret = hour.known('FEISHU_APP_SECRET', 'app-secret');
  const first = stepsOf({ ...noChoices, baseUrl, ...(appId === undefined ? {} : { appId }) });
  for (const id of ['tenant', 'create-app'] as const) {
    const step = first.get(id);
    if (step !== undefined && (id === 'create-app' || !hour.asker.isSilent)) await walkStep(hour, step);
  }
  for (;;) {
    appId = await askAppId(hour, appId);
    secret = secret ?? (await hour.asker.askSecret('App Secret'));
    if (secret === '') throw new HourFault(2, 'the secret is missing: set FEISHU_APP_SECRET');
    const app = openApp(hour, appId, secret);
    const checked = await checkCredentials(app.client, app);
    if (checked.ok) {
      const address = hour.known('FEISHU_BASE_URL');
      await hour.envFile.set({
        FEISHU_APP_ID: appId,
        FEISHU_APP_SECRET: secret,
        ...(address === undefined ? {} : { FEISHU_BASE_URL: address }),
      });
      hour.say(`${checked.what}; kept in ${hour.envFile.path} (mode 600)`);
      return app;
    }
    if (hour.asker.isSilent) throw new HourFault(1, `${checked.what}\n→ ${checked.advice}`);
    hour.say(`${checked.what}\n→ ${checked.advice}`);
    secret = undefined;
  }
}

async function askAppId(hour: Hour, known: string | undefined): Promise<string> {
  for (;;) {
    const appId = hour.asker.isSilent ? (known ?? '') : await hour.asker.ask('App ID (cli_…)', known);
    if (appIdPattern.test(appId)) return appId;
    const fault = appId === '' ? 'the app id is missing' : `"${appId}" is no app id; it begins with "cli_"`;
    if (hour.asker.isSilent) throw new HourFault(2, `${fault}: give --app-id, or set FEISHU_APP_ID`);
    hour.say(fault);
  }
}

/** A base as `resolveBase` takes it, and whether a wiki page shows it. */
export interface WrittenBase {
  readonly written: string;
  readonly isWiki: boolean;
}

/** The link or token of the base as a person gives it; only its shape is checked here. */
export async function askBase(hour: Hour, preset = hour.known('BITABLE_APP_TOKEN', 'base')): Promise<WrittenBase> {
  for (;;) {
    const written = hour.asker.isSilent
      ? (preset ?? '')
      : await hour.asker.ask('Link of the base (or of the wiki page that shows it)', preset);
    const parsed = parseBaseSetting(written);
    if (parsed.ok) {
      const isWiki = parsed.value.kind === 'wiki';
      return { written: isWiki ? `wiki/${parsed.value.token}` : parsed.value.token, isWiki };
    }
    if (hour.asker.isSilent) throw new HourFault(2, `--base: ${parsed.failure}`);
    hour.say(parsed.failure);
  }
}

/** The base's own token, once the app is in it; kept in `.env`, so that a wiki page need not be resolved again. */
export async function enterBase(hour: Hour, app: App, first: WrittenBase): Promise<string> {
  let { written } = first;
  for (;;) {
    const { diagnosis, base } = await checkBase(app.client, written, app);
    if (base !== undefined) {
      await hour.envFile.set({ BITABLE_APP_TOKEN: base.appToken });
      hour.say(diagnosis.what);
      return base.appToken;
    }
    const words = `${diagnosis.what}\n→ ${diagnosis.advice}`;
    if (hour.asker.isSilent) throw new HourFault(1, words);
    hour.say(`${words}\nEnter tries the same again (Ctrl-C ends; what was entered is kept)`);
    ({ written } = await askBase(hour, written));
  }
}
