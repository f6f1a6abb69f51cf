import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Failure, MediaSource } from '../../contract/index.ts';
import { fail, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import { type Answer, answersSchema } from './wire.ts';

/** Reads the file anew for each call, so that an author sees a change at once. JSON is YAML. */
export async function readAnswers(file: string): Promise<Result<readonly Answer[], Failure>> {
  try {
    const parsed = answersSchema.safeParse(parse(await readFile(file, 'utf8')));
    if (parsed.success) return ok(parsed.data.answers);
    const [issue] = parsed.error.issues;
    return fail(configurationFailure(`${file}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`));
  } catch (error) {
    return fail(configurationFailure(`${file}: ${error instanceof Error ? error.message : String(error)}`));
  }
}

export function chooseAnswer(answers: readonly Answer[], prompt: string, model: string): Answer | undefined {
  return answers.find(
    (answer) =>
      (answer.when === undefined || prompt.includes(answer.when)) &&
      (answer.model === undefined || answer.model === model),
  );
}

/** The capability's output of an answer; files are kept in the spool. */
export async function toOutput(answer: Answer, file: string, media: MediaSource): Promise<Result<JsonObject, Failure>> {
  if (answer.text !== undefined) return ok({ text: answer.text, finish: 'stop' });
  const kept: JsonObject[] = [];
  for (const name of answer.images ?? answer.videos ?? []) {
    const path = resolve(dirname(file), name);
    try {
      const artifact = await media.keep(await readFile(path), name);
      if (!artifact.ok) return artifact;
      kept.push(artifact.value);
    } catch (error) {
      return fail(configurationFailure(`${path}: ${error instanceof Error ? error.message : String(error)}`));
    }
  }
  return ok(answer.images === undefined ? { videos: kept } : { images: kept });
}

export function configurationFailure(message: string): Failure {
  return { kind: 'configuration', code: 'scripted', message, provider: 'scripted' };
}
