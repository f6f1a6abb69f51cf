import { Environment } from '@marcbachmann/cel-js';
import { fail, type Json, ok, type Result } from '../../kernel/index.ts';

/** A CEL rule, parsed and type-checked. It cannot loop, call out, or change anything. */
export interface Expression {
  readonly text: string;
  /** True or false; a rule that fails on the values at hand (a missing member, a wrong type) is a failure in words. */
  holds(values: Readonly<Record<string, Json | undefined>>): Result<boolean, string>;
}

/** `variables` are the names that the rule may use. Absent optional members are asked for with `has(input.x)`. */
export function parseExpression(text: string, variables: readonly string[]): Result<Expression, string> {
  const environment = new Environment({ unlistedVariablesAreDyn: false });
  for (const name of variables) environment.registerVariable(name, 'dyn');
  try {
    const program = environment.parse(text);
    const checked = program.check();
    if (!checked.valid) return fail(`"${text}": ${firstLine(checked.error)}`);
    if (checked.type !== 'bool' && checked.type !== 'dyn')
      return fail(`"${text}" gives ${checked.type ?? '?'}, not bool`);
    return ok({
      text,
      holds: (values) => {
        try {
          const value: unknown = program(values);
          return typeof value === 'boolean' ? ok(value) : fail(`"${text}" gave ${typeof value}, not true or false`);
        } catch (error) {
          return fail(`"${text}": ${firstLine(error)}`);
        }
      },
    });
  } catch (error) {
    return fail(`"${text}": ${firstLine(error)}`);
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
