import { fail, ok, type Result } from '../kernel/index.ts';

/** Names of variables that a text takes from the environment: `${NAME}` or `${NAME:-preset}`. */
export function namesIn(text: string): readonly { readonly name: string; readonly preset?: string }[] {
  return [...text.matchAll(/\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g)].map((match) => ({
    name: match[1] ?? '',
    ...(match[2] === undefined ? {} : { preset: match[2] }),
  }));
}

/** Puts the variables in; fails with the names that are not set and have no preset. */
export function fillFromEnvironment(
  text: string,
  valueOf: (name: string) => string | undefined,
): Result<string, readonly string[]> {
  const absent = namesIn(text).filter(({ name, preset }) => valueOf(name) === undefined && preset === undefined);
  if (absent.length > 0) return fail(absent.map(({ name }) => name));
  const filled = text.replace(
    /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g,
    (_, name: string, preset: string | undefined) => valueOf(name) ?? preset ?? '',
  );
  return ok(filled);
}
