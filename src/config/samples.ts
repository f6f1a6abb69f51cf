import { z } from 'zod';
import { type ConfigFault, faultAt } from './fault.ts';
import type { ConfigFiles } from './files.ts';
import { readBySchema } from './schema-faults.ts';
import { parseYamlFile } from './yaml-file.ts';

const statuses = ['生成中', '待确认', '完成', '失败', '待核对', '已取消'] as const;

/** A row of the sandbox's tables: shown by `npm start`, worked through by the demo. */
const sampleRowSchema = z.strictObject({
  /** What the row shows, for the demo's report. */
  name: z.string(),
  /** Texts and numbers as staff type them. */
  cells: z.record(z.string(), z.json()).optional(),
  /** Column → names of pictures that the sandbox draws. */
  pictures: z.record(z.string(), z.array(z.string())).optional(),
  /** Words typed in this order: the first at once, each further one when the row stands in 待确认. Default: 提交, then 通过 as often as it is waited for. */
  types: z.array(z.enum(['提交', '通过', '打回', '取消'])).optional(),
  expect: z.strictObject({ status: z.enum(statuses), degraded: z.boolean().optional() }),
  /** What the sandbox does wrong for this row, in its own terms: endpoint, a part of the body, an action. */
  faults: z
    .array(
      z.strictObject({
        endpoint: z.string(),
        bodyIncludes: z.string().min(4),
        count: z.int().min(1).optional(),
        action: z.looseObject({ kind: z.string() }),
      }),
    )
    .optional(),
});

export const samplesSchema = z.strictObject({ samples: z.string(), rows: z.array(sampleRowSchema).min(1) });

export type SampleRow = z.infer<typeof sampleRowSchema>;

/** Sample rows by agent, from `config/samples/<agent>.yaml`; an agent need not have any. */
export async function readSamples(
  files: ConfigFiles,
): Promise<{ readonly samples: ReadonlyMap<string, readonly SampleRow[]>; readonly faults: readonly ConfigFault[] }> {
  const samples = new Map<string, readonly SampleRow[]>();
  const faults: ConfigFault[] = [];
  for (const file of await files.list('config/samples', '.yaml')) {
    const source = parseYamlFile(file, (await files.read(file)) ?? '');
    faults.push(...source.faults);
    if (source.value === undefined) continue;
    const read = readBySchema(source, samplesSchema);
    faults.push(...read.faults);
    if (read.value === undefined) continue;
    const { samples: agent, rows } = read.value;
    if (samples.has(agent))
      faults.push(faultAt(source.placeOf(['samples']), `"${agent}" has samples already`, 'put them into one file'));
    samples.set(agent, rows);
  }
  return { samples, faults };
}
