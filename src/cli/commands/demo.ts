import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoReport, playDemo, startWorker } from '../../app/index.ts';
import { type RunCommand, exitCodes, wholeFlag } from '../command.ts';
import { interrupted } from '../interrupt.ts';
import { textTable } from '../render/text-table.ts';

/** Waits that would only bore whoever watches. */
const quickSettings = {
  GRIDLOOM__POLL__INTERVAL: '200ms',
  GRIDLOOM__FEISHU__PLAN: 'paid',
  GRIDLOOM__FEISHU__WRITE_SPACING: '50ms',
  GRIDLOOM__FEISHU__MEDIA_CALLS_PER_SECOND: '50',
  GRIDLOOM__VENDOR_POLL__IMAGE__FIRST: '300ms',
  GRIDLOOM__VENDOR_POLL__IMAGE__INTERVAL: '300ms',
  GRIDLOOM__VENDOR_POLL__VIDEO__FIRST: '500ms',
  GRIDLOOM__VENDOR_POLL__VIDEO__INTERVAL: '500ms',
  GRIDLOOM__RETRY__DELAY: '200ms',
} as const;

const defaultLimitS = 170;

export const runDemo: RunCommand = async (input, io) => {
  const limitS = wholeFlag(input, 'limit', { preset: defaultLimitS, min: 1, max: 86_400 });
  if (limitS === undefined) {
    io.err('--limit takes a whole number of seconds');
    return exitCodes.usage;
  }
  const directory = await mkdtemp(join(tmpdir(), 'gridloom-demo-'));
  try {
    const worker = await startWorker({
      directory: io.directory,
      env: {
        ...io.env,
        ...quickSettings,
        GRIDLOOM_MODE: 'sandbox',
        GRIDLOOM_DATA_DIR: join(directory, 'data'),
        GRIDLOOM_MONITOR_DIR: join(directory, 'webmon'),
      },
      sandboxPort: 0,
      onDead: () => process.exit(exitCodes.failed),
    });
    if (!worker.ok || worker.value.sandbox === undefined) {
      for (const line of worker.ok ? ['the demo needs the sandbox'] : worker.failure.lines) io.err(line);
      return worker.ok ? exitCodes.failed : worker.failure.exitCode;
    }
    const playing = playDemo(worker.value, worker.value.sandbox, limitS * 1_000);
    const report = await Promise.race([playing, interrupted()]).finally(async () => await worker.value.stop());
    if (report === undefined) {
      io.err('interrupted; the demo leaves nothing behind');
      return exitCodes.failed;
    }
    if (input.json) io.out(JSON.stringify(report));
    else for (const line of render(report)) io.out(line);
    return report.ok ? exitCodes.done : exitCodes.failed;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

function render(report: DemoReport): string[] {
  const lines = report.rows.map((row) => [
    row.ok ? 'ok' : 'NO',
    row.agent,
    row.name,
    row.expected,
    row.status + (row.degraded ? ' (degraded)' : ''),
    String(row.stages),
    row.cost_cny,
    Object.entries(row.attachments)
      .map(([column, count]) => `${column} ${count}`)
      .join(', '),
  ]);
  return [
    ...textTable(['', 'AGENT', 'ROW', 'EXPECTED', 'STATUS', 'STAGES', 'CNY', 'ATTACHMENTS'], lines),
    `${report.rows.filter((row) => row.ok).length} of ${report.rows.length} rows ended as expected, in ${(report.wall_ms / 1_000).toFixed(1)} s`,
  ];
}
