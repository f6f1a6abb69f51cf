import { describe, expect, it } from 'vitest';
import { createDirectoryFiles, createMemoryFiles, readSamples } from '../../src/config/index.ts';
import { sampleNames } from '../../src/sandbox/index.ts';
import { root } from '../config/installation.ts';
import { definitions } from './shipped.ts';

const { samples, faults } = await readSamples(createDirectoryFiles(root));
const rows = [...samples.values()].flat();

describe('sample rows', () => {
  it('are there for every agent, twenty at least, one of each outcome among them', () => {
    expect(faults).toEqual([]);
    expect([...samples.keys()].sort()).toEqual([...definitions.agents.keys()].sort());
    expect(rows.length).toBeGreaterThanOrEqual(20);
    for (const status of ['完成', '待确认', '失败', '待核对', '已取消']) {
      expect(
        rows.map((row) => row.expect.status),
        status,
      ).toContain(status);
    }
    expect(rows.some((row) => row.expect.degraded === true)).toBe(true);
  });

  it('use columns of their agent and pictures that the sandbox can draw', () => {
    for (const [agent, list] of samples) {
      const inputs = Object.values(definitions.agents.get(agent)!.inputs);
      const known = ['打回意见', ...inputs.map((input) => input.column)];
      for (const row of list) {
        for (const column of [...Object.keys(row.cells ?? {}), ...Object.keys(row.pictures ?? {})]) {
          expect(known, `${agent}: ${row.name}`).toContain(column);
        }
        for (const name of Object.values(row.pictures ?? {}).flat()) expect(sampleNames).toContain(name);
        for (const fault of row.faults ?? []) expect(JSON.stringify(row.cells)).toContain(fault.bodyIncludes);
      }
    }
  });

  it('are checked like any other file', async () => {
    const text = 'samples: try-on\nrows:\n  - name: x\n    expct: { status: 完成 }\n';
    const read = await readSamples(createMemoryFiles({ 'config/samples/a.yaml': text }));
    expect(read.faults.map((fault) => `${fault.line} ${fault.what}`)).toContain('4 unknown key "rows.0.expct"');
  });
});
