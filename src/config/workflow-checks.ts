import { formatDuration } from '../kernel/index.ts';
import type { ReadDefinitions } from './definitions.ts';
import { type ConfigFault, faultAt } from './fault.ts';

/** Limits of which only the shorter would act: a node that may take longer than the whole run. */
export function checkWorkflowLimits(read: ReadDefinitions): readonly ConfigFault[] {
  return [...read.workflows.values()].flatMap(({ definition, source }) => {
    const limitMs = definition.deadline;
    const zero =
      limitMs === 0 ? [faultAt(source.placeOf(['deadline']), 'deadline is 0', 'give it a length above 0')] : [];
    const nodes = Object.entries(definition.nodes).flatMap(([id, node]) => {
      if (node.timeout === undefined) return [];
      const place = source.placeOf(['nodes', id, 'timeout']);
      if (node.timeout === 0) return [faultAt(place, `timeout of "${id}" is 0`, 'give it a length above 0')];
      if (limitMs === undefined || limitMs === 0 || node.timeout <= limitMs) return [];
      const what = `timeout of "${id}" (${formatDuration(node.timeout)}) is longer than the run's deadline (${formatDuration(limitMs)})`;
      return [faultAt(place, what, 'shorten the timeout or lengthen the deadline')];
    });
    return [...zero, ...nodes];
  });
}
