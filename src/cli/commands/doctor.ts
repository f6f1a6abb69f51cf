import { resolve } from 'node:path';
import {
  modeOfDirectory,
  openDataDirectory,
  openStore,
  isWorkerRunningIn,
  readConfiguration,
} from '../../app/reading.ts';
import type { LoadedConfig } from '../../config/index.ts';
import { type CommandInput, type CommandIo, exitCodes, type RunCommand } from '../command.ts';
import { fault, type Finding, hint } from '../doctor/finding.ts';
import { checkMachine } from '../doctor/machine.ts';
import { onInterrupt } from '../interrupt.ts';

/** Looks at everything that a first hour can get wrong; each fault with what to do. Exit 1 when there is one. */
export const runDoctor: RunCommand = async (input, io) => {
  const where = { directory: io.directory, env: io.env };
  const mode = await modeOfDirectory(where);
  const sandboxOrigin = io.env['GRIDLOOM_SANDBOX_ORIGIN'] ?? 'http://127.0.0.1:7010';
  const read = await readConfiguration({ ...where, ...(mode === 'sandbox' ? { sandboxOrigin } : {}) });
  const found: Finding[] = read.ok
    ? []
    : read.failure.map((each) =>
        fault('configuration', each.what, each.advice, `${each.file}:${each.line}:${each.column}`),
      );
  const config = read.ok ? read.value : undefined;
  const root = resolve(io.directory, config?.environment.dataDir ?? io.env['GRIDLOOM_DATA_DIR'] ?? 'data');
  found.push(...(await checkMachine(io.directory, config, root)));
  if (config !== undefined && mode === 'sandbox') {
    const advice = 'run "npx gridloom init", or put FEISHU_APP_ID and FEISHU_APP_SECRET into .env';
    found.push(hint('mode', 'no Feishu credentials: the worker runs on its sandbox', advice));
  } else if (config !== undefined) {
    const outside = await interruptible(async (signal) => await checkOutside(config, input, io, signal));
    if (outside === undefined) {
      io.err('interrupted; the row of the check is deleted again');
      return exitCodes.failed;
    }
    found.push(...outside);
  }
  return tell(found, input, io);
};

/** Ctrl-C lets the checks undo what they made; a second one leaves at once. Undefined when it was interrupted. */
async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const leave = new AbortController();
  const stopListening = onInterrupt(
    () => leave.abort(),
    () => process.exit(exitCodes.failed),
  );
  try {
    return await run(leave.signal);
  } catch (error) {
    if (leave.signal.aborted) return undefined;
    throw error;
  } finally {
    stopListening();
  }
}

/** What needs the network. */
async function checkOutside(
  config: LoadedConfig,
  input: CommandInput,
  io: CommandIo,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { createProbePorts, createProviders } = await import('../../app/working.ts');
  const { checkPlatform } = await import('../doctor/platform.ts');
  const { checkPushplus } = await import('../doctor/pushplus.ts');
  const { checkQuotaOf } = await import('../doctor/quota.ts');
  const { checkVendors } = await import('../doctor/vendors.ts');
  const ports = createProbePorts(config);
  const directory = await openDataDirectory(io.directory, config.environment);
  const store = await openStore(config, directory, ports);
  const mayProbe = input.flags['no-probe'] !== true;
  try {
    const isWorkerRunning = isWorkerRunningIn(directory);
    const [platform, vendors] = await Promise.all([
      checkPlatform({ config, ports, mayProbe, isWorkerRunning, signal }),
      checkVendors(config, createProviders(config, ports), ports),
    ]);
    const pushplus = mayProbe ? [await checkPushplus(config, { ...ports, store })] : [];
    return [...platform, await checkQuotaOf(config, store, ports.clock), ...vendors, ...pushplus];
  } finally {
    await store.close();
    await ports.close();
  }
}

function tell(found: readonly Finding[], input: CommandInput, io: CommandIo): number {
  const faults = found.filter((finding) => finding.level === 'fault').length;
  if (input.json) io.out(JSON.stringify({ ok: faults === 0, findings: found }));
  else {
    for (const { level, check, of, what, advice } of found) {
      const sign = { ok: 'ok   ', hint: 'hint ', fault: 'FAULT' }[level];
      io.out(`${sign}  ${check.padEnd(19)}  ${of === undefined ? '' : `${of}: `}${what}`);
      if (advice !== '') io.out(`${' '.repeat(28)}→ ${advice}`);
    }
    io.out(faults === 0 ? 'no fault found' : `${faults} ${faults === 1 ? 'fault' : 'faults'} found`);
  }
  return faults === 0 ? exitCodes.done : exitCodes.failed;
}
