import { startWorker } from '../../app/working.ts';
import { type RunCommand, type CommandIo, exitCodes, wholeFlag } from '../command.ts';

const tablePort = 7010;

export const runStart: RunCommand = async (input, io) => {
  const port = wholeFlag(input, 'port', { preset: tablePort, min: 0, max: 65_535 });
  if (port === undefined) {
    io.err('--port takes a number from 0 to 65535');
    return exitCodes.usage;
  }
  let giveUp: (() => void) | undefined;
  const ended = new Promise<'stop' | 'dead'>((resolve) => {
    giveUp = () => resolve('dead');
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('stop'));
  });
  const worker = await startWorker({
    directory: io.directory,
    env: io.env,
    sandboxPort: port,
    onDead: () => giveUp?.(),
  });
  if (!worker.ok) {
    for (const line of worker.failure.lines) io.err(line);
    return worker.failure.exitCode;
  }
  sayHello(io, worker.value.sandbox?.origin, worker.value.config.environment.tables.size);
  const how = await ended;
  if (how === 'dead') {
    // The loop hangs: nothing that waits for it would end.
    process.exit(exitCodes.failed);
  }
  io.out('stopping: what is under way is waited for or resumed at the next start (Ctrl-C again: leave at once)');
  // A second signal does not wait for the drain.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(exitCodes.failed));
  await worker.value.stop();
  return exitCodes.done;
};

function sayHello(io: CommandIo, origin: string | undefined, tables: number): void {
  if (origin === undefined) {
    io.out(
      `Gridloom is live on ${tables} table${tables === 1 ? '' : 's'}. Stop with Ctrl-C: what is under way is resumed at the next start.`,
    );
    return;
  }
  const { port } = new URL(origin);
  io.out(`Gridloom runs on its sandbox: nothing here is real, nothing costs money.`);
  io.out(`  open the table    ${origin}/`);
  io.out(`  on a server       ssh -L ${port}:127.0.0.1:${port} user@server   then open the same address`);
  io.out(`  for real          copy .env.example to .env, fill it in, start again`);
}
