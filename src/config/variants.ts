import type { Definitions, PromptDefinition } from '../contract/index.ts';
import { fail, ok, type Result } from '../kernel/index.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import type { ConfigFiles } from './files.ts';
import { readPromptFile } from './prompts.ts';
import { type RedLines, redLinePartials } from './red-lines.ts';
import { suggestName } from './suggest.ts';

/**
 * Another version of a prompt, from a file that need not lie below `config/`: the definitions with it in the place of the
 * one of the same name. Two versions can so be run on the same inputs.
 */
export async function withPromptFrom(
  files: ConfigFiles,
  file: string,
  current: { readonly definitions: Definitions; readonly redLines: RedLines },
): Promise<Result<{ readonly definitions: Definitions; readonly prompt: PromptDefinition }, readonly ConfigFault[]>> {
  const place = { file, line: 1, column: 1 };
  const text = await files.read(file);
  if (text === undefined) return fail([faultAt(place, 'there is no such file', 'name a prompt file (.md)')]);
  const { prompt, faults } = readPromptFile(file, text, redLinePartials(current.redLines));
  if (prompt === undefined || faults.length > 0) return fail(faults);
  const { prompts } = current.definitions;
  if (!prompts.has(prompt.prompt)) {
    const what = `no prompt is called "${prompt.prompt}", so there is nothing to compare with`;
    return fail([faultAt(place, what, suggestName(prompt.prompt, prompts.keys()))]);
  }
  const changed = new Map(prompts).set(prompt.prompt, prompt);
  return ok({ definitions: { ...current.definitions, prompts: changed }, prompt });
}
