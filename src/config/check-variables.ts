import { type ConfigFault, faultAt } from './fault.ts';
import { nearestName, suggestName } from './suggest.ts';
import type { Variable, Variables } from './variables.ts';

/** Beginnings that in `.env` can only mean us: an unknown name with one of them is a slip. */
const ourPrefixes = /^(FEISHU|BITABLE|KIE|TOAPIS|ARK|DASHSCOPE|LLM|PUSHPLUS|GRIDLOOM)_/;

/**
 * Misspelt variables: unknown names that begin like ours, or that look like a known one that is not set. A variable of the
 * process may belong to another program, so there only near misses and `GRIDLOOM_` count.
 */
export function findMisspelt(variables: Variables, known: ReadonlySet<string>): readonly ConfigFault[] {
  const unset = [...known].filter((name) => !variables.has(name));
  return [...variables.values()].flatMap((variable) => {
    if (known.has(variable.name) || variable.name.startsWith('GRIDLOOM__') || variable.origin === 'sandbox') return [];
    const meant = variable.name.length < 6 ? undefined : nearestName(variable.name, unset);
    if (meant !== undefined) return [misspelt(variable, `did you mean ${meant}?`)];
    const isOurs = variable.origin === 'file' ? ourPrefixes.test(variable.name) : variable.name.startsWith('GRIDLOOM_');
    return isOurs ? [misspelt(variable, suggestName(variable.name, known))] : [];
  });
}

function misspelt(variable: Variable, advice: string): ConfigFault {
  return faultAt(variable.place, `unknown variable ${variable.name}`, advice);
}
