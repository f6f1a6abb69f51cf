import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ConfigFault,
  type ConfigFiles,
  createDirectoryFiles,
  formatFault,
  type LoadedConfig,
  loadConfig,
} from '../../src/config/index.ts';
import type { Result } from '../../src/kernel/index.ts';

export const root = join(import.meta.dirname, '..', '..');

/** The shipped installation with some files replaced (undefined: removed); never the developer's own `.env`. */
export function shipped(changes: Readonly<Record<string, string | undefined>> = {}): ConfigFiles {
  const disk = createDirectoryFiles(root);
  return {
    read: async (file) => (file in changes ? changes[file] : file === '.env' ? undefined : await disk.read(file)),
    list: async (folder, ending) => {
      const added = Object.keys(changes).filter((file) => file.startsWith(`${folder}/`) && file.endsWith(ending));
      const listed = (await disk.list(folder, ending)).filter((file) => !(file in changes));
      return [...listed, ...added.filter((file) => changes[file] !== undefined)].sort();
    },
  };
}

export function shippedText(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** A whole live environment: everything that the contract asks for. */
export const liveEnv: Readonly<Record<string, string>> = {
  FEISHU_APP_ID: 'cli_a1',
  FEISHU_APP_SECRET: 'secret-of-the-app',
  BITABLE_APP_TOKEN: 'bascn1234567890',
  TRY_ON_TABLE_ID: 'tblTryOn1',
  KIE_API_KEY: 'kie-key',
  LLM_PRIMARY_API_KEY: 'llm-key',
  LLM_PRIMARY_BASE_URL: 'https://llm.example/v1',
  LLM_PRIMARY_MODEL: 'some-vision-model',
};

export async function load(
  env: Readonly<Record<string, string>> = {},
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Result<LoadedConfig, readonly ConfigFault[]>> {
  return await loadConfig({ files: shipped(changes), env });
}

export async function loadGood(
  env: Readonly<Record<string, string>> = {},
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<LoadedConfig> {
  const loaded = await load(env, changes);
  if (!loaded.ok) throw new Error(loaded.failure.map(formatFault).join('\n'));
  return loaded.value;
}

/** The faults as printed lines; fails when there is none. */
export async function faultsOf(
  env: Readonly<Record<string, string>> = {},
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly string[]> {
  const loaded = await load(env, changes);
  if (loaded.ok) throw new Error('the configuration was taken');
  return loaded.failure.map(formatFault);
}
