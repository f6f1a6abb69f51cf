import { type ConfigFault, faultAt } from './fault.ts';
import { editDistance, nearestName, suggestName } from './suggest.ts';
import type { Variable, Variables } from './variables.ts';

/** Beginnings that in `.env` can only mean us: an unknown name with one of them is a slip. */
const ourPrefixes = /^(FEISHU|BITABLE|KIE|TOAPIS|ARK|DASHSCOPE|BOCHA|LLM|PUSHPLUS|GRIDLOOM)_/;
/** What else a Feishu app's `.env` may hold; a long connection needs neither. */
const harmless: readonly string[] = ['FEISHU_ENCRYPT_KEY', 'FEISHU_VERIFICATION_TOKEN'];

/**
 * Misspelt variables: unknown names that begin like ours, or that look like a known one that is not set. A variable of the
 * process may belong to another program, so there only near misses of names with our beginnings and `GRIDLOOM_` count.
 */
export function findMisspelt(variables: Variables, known: ReadonlySet<string>): readonly ConfigFault[] {
  const unset = [...known].filter((name) => !variables.has(name));
  return [...variables.values()].flatMap((variable) => {
    const { name, origin } = variable;
    if (known.has(name) || harmless.includes(name) || name.startsWith('GRIDLOOM__') || origin === 'sandbox') return [];
    const candidates = unset.filter((each) => beginsAlike(name, each, origin === 'file'));
    const meant = nearestName(name, candidates);
    if (meant !== undefined) return [misspelt(variable, `did you mean ${meant}?`)];
    const isOurs = origin === 'file' ? ourPrefixes.test(name) : name.startsWith('GRIDLOOM_');
    return isOurs ? [misspelt(variable, suggestName(name, known))] : [];
  });
}

/** `AI_API_KEY` is near `ARK_API_KEY` in letters, yet another thing: the first word must be meant alike too. */
function beginsAlike(written: string, known: string, isLoose: boolean): boolean {
  if (written.replaceAll('_', '') === known.replaceAll('_', '')) return true;
  const [first = '', knownFirst = ''] = [written.split('_')[0], known.split('_')[0]];
  if (first === knownFirst) return isLoose || ourPrefixes.test(known);
  return isLoose && Math.min(first.length, knownFirst.length) >= 3 && editDistance(first, knownFirst) <= 1;
}

function misspelt(variable: Variable, advice: string): ConfigFault {
  return faultAt(variable.place, `unknown variable ${variable.name}`, advice);
}
