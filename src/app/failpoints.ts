import { type FailpointName, type Failpoints, failpointNames } from '../kernel/index.ts';

/**
 * `NAME` or `NAME@N`: this process kills itself with SIGKILL at the N-th hit of the named place (default the first). Only
 * crash tests set it. An unknown name is a fault of the test and stops the process at once.
 */
export function failpointsFromEnvironment(text: string): Failpoints {
  const [name = '', count = '1'] = text.split('@');
  if (!isFailpointName(name)) throw new Error(`unknown failpoint "${name}"; known: ${failpointNames.join(', ')}`);
  let left = Number(count);
  return {
    hit: (hit) => {
      if (hit !== name) return;
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
    },
  };
}

function isFailpointName(text: string): text is FailpointName {
  return failpointNames.some((name) => name === text);
}
