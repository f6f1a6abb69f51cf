import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Several processes of one script that get ready, start together on `go`, and each hand figures back. */
export async function startCrew(script, inputs) {
  const members = await Promise.all(inputs.map((input) => startMember(script, input)));
  return {
    members,
    /** Lets all go at once; resolves with their figures. */
    go: async () => {
      const done = members.map((member) => member.next('done'));
      for (const member of members) member.child.send({ kind: 'go' });
      return await Promise.all(done);
    },
    end: () => {
      for (const member of members) member.child.kill('SIGKILL');
    },
  };
}

async function startMember(script, input) {
  const child = fork(fileURLToPath(script), [], { stdio: ['ignore', process.stderr, process.stderr, 'ipc'] });
  const next = (kind) =>
    new Promise((resolve, reject) => {
      const onMessage = (message) => {
        if (message.kind !== kind) return;
        child.off('message', onMessage);
        child.off('exit', onExit);
        resolve(message.figures);
      };
      const onExit = (code, signal) => reject(new Error(`${script} ended early (${signal ?? code})`));
      child.on('message', onMessage);
      child.once('exit', onExit);
    });
  const ready = next('ready');
  child.send({ kind: 'input', input });
  await ready;
  return { child, next };
}

/** The other end. `prepare(input)` returns the work that `go` starts. */
export function serveCrew(prepare) {
  const once = (kind) =>
    new Promise((resolve) => {
      const listen = (message) => {
        if (message.kind !== kind) return;
        process.off('message', listen);
        resolve(message.input);
      };
      process.on('message', listen);
    });
  const work = async () => {
    const run = await prepare(await once('input'));
    const go = once('go');
    process.send({ kind: 'ready' });
    await go;
    process.send({ kind: 'done', figures: await run() });
  };
  work().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}
