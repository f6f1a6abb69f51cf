import type { JsonObject } from '../../../src/kernel/index.ts';
import { type PageFiles, type Row, sampleFiles } from './sample.ts';
import { sampleId } from './sample-id.ts';

const hostile = '"><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>${7*7}{{7*7}}‮\u0000';

/** The same files with every string that others can choose turned hostile. */
export function hostileFiles(now: number): PageFiles {
  const files = sampleFiles(now, { trouble: true });
  const keep = /^(updated_at|timezone|mode|day|status|state|severity|id|plan|columns|currency)$/;
  const poison = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return keep.test(name) || value === '' ? value : `${value}${hostile}`;
    if (Array.isArray(value)) return value.map((member: unknown) => poison(member, name));
    if (typeof value !== 'object' || value === null) return value;
    const isMap = /^(by_agent|by_vendor|vendors|waiting|errors)$/.test(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [isMap ? `${key}${hostile}` : key, poison(member, key)]),
    );
  };
  const rows = files.list['executions'];
  return {
    metrics: poison(files.metrics, '') as JsonObject,
    list: {
      ...files.list,
      executions: Array.isArray(rows)
        ? (rows as unknown as Row[]).map((row) =>
            row.map((cell, index) =>
              typeof cell === 'string' && ![0, 4].includes(index) ? `${cell}${hostile}` : cell,
            ),
          )
        : [],
    },
    details: { [sampleId(1)]: poison(files.details[sampleId(1)], '') as JsonObject },
  };
}
