import type { Hour } from './hour.ts';

/** Variables of accounts whose key alone is not enough. */
const furtherOf = (key: string): readonly string[] =>
  key.startsWith('LLM_') ? [key.replace(/API_KEY$/, 'BASE_URL'), key.replace(/API_KEY$/, 'MODEL')] : [];

/** Keys of vendors, one by one; each may be left out. What the process's environment holds already is not asked. */
export async function askKeys(hour: Hour): Promise<void> {
  if (hour.asker.isSilent) return;
  hour.say('');
  hour.say('■ Keys of the vendors (Enter leaves one out; at least one for pictures, one for films, one for text)');
  for (const definition of hour.config.definitions.providers.values()) {
    const key = /\$\{([A-Z0-9_]+)/.exec(definition.key)?.[1];
    if (key === undefined || hour.known(key) !== undefined) continue;
    const value = await hour.asker.askSecret(`  ${key}`);
    if (value === '') continue;
    const values: Record<string, string> = { [key]: value };
    for (const name of furtherOf(key)) values[name] = await hour.asker.ask(`  ${name}`, hour.known(name));
    await hour.envFile.set(Object.fromEntries(Object.entries(values).filter(([, each]) => each !== '')));
  }
  if (hour.known('PUSHPLUS_TOKEN') !== undefined) return;
  const token = await hour.asker.askSecret('  PUSHPLUS_TOKEN (alerts to WeChat)');
  if (token !== '') await hour.envFile.set({ PUSHPLUS_TOKEN: token });
}
