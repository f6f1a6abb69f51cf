import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import type { PageFiles } from './sample.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

export interface StaticServer {
  readonly url: string;
  /** What the data files hold from now on; `undefined`: they are not there. */
  files: PageFiles | undefined;
  /** Overrides the `Date` header, as a server's clock would. */
  date: (() => number) | undefined;
  close(): Promise<void>;
}

/** What nginx does with an alias: the page's files from disk, the data files as given. */
export async function serveStatic(): Promise<StaticServer> {
  const root = join(import.meta.dirname, '../../../webmon');
  const server = createServer((request, response) => {
    void answer(new URL(request.url ?? '/', 'http://localhost').pathname).then(({ status, body, type }) => {
      response.writeHead(status, {
        'content-type': type,
        date: new Date(state.date?.() ?? Date.now()).toUTCString(),
      });
      response.end(body);
    });
  });
  const answer = async (path: string): Promise<{ status: number; body: string | Buffer; type: string }> => {
    const name = path === '/' ? 'index.html' : normalize(path).slice(1);
    const type = types[extname(name)] ?? 'text/plain';
    const data = dataFile(state.files, name);
    if (data !== undefined) return { status: 200, body: JSON.stringify(data), type };
    if (name === 'metrics.json' || name.startsWith('data/')) return { status: 404, body: 'none', type: 'text/plain' };
    try {
      return { status: 200, body: await readFile(join(root, name)), type };
    } catch {
      return { status: 404, body: 'none', type: 'text/plain' };
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const state: StaticServer = {
    url: `http://127.0.0.1:${port}/`,
    files: undefined,
    date: undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return state;
}

function dataFile(files: PageFiles | undefined, name: string): unknown {
  if (files === undefined) return undefined;
  if (name === 'metrics.json') return files.metrics;
  if (name === 'data/executions.json') return files.list;
  const match = /^data\/executions\/(.+)\.json$/.exec(name);
  return match === null ? undefined : files.details[match[1] ?? ''];
}
