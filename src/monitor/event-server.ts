import { Hono } from 'hono';
import { type Artifact, isArtifact, type MediaSource } from '../contract/index.ts';
import type { Store } from '../engine/ports/index.ts';
import { type Clock, type ExecutionId, executionId, type JsonObject, type Logger } from '../kernel/index.ts';
import type { Calendar } from './calendar.ts';
import { type EventFilter, eventStream } from './event-stream.ts';
import { executionFile } from './execution-file.ts';
import type { ReadFile } from './folder-reader.ts';
import { ledgerBy } from './ledger.ts';
import { guardHeaders, refusal } from './local-guard.ts';

export interface EventServerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly calendar: Calendar;
  /** The page's own files (`webmon/`). */
  readonly page: ReadFile;
  /** What the worker writes (`GRIDLOOM_MONITOR_DIR`): `metrics.json`, `data/…`. */
  readonly data: ReadFile;
  /** Where results lie, for thumbnails; absent: none are shown. */
  readonly media?: Pick<MediaSource, 'read'>;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};
/** Only what browsers show as pictures and that cannot carry script. */
const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const mostKnownPictures = 500;

/**
 * The monitor for this machine (`npx gridloom serve`): the page, the worker's files, and what the static files leave out
 * because anyone may read those: the event stream, results as pictures, spending by submitter. A plain request handler;
 * reading only; refuses whoever is not this machine.
 */
export function createEventServer(deps: EventServerDeps): (request: Request) => Promise<Response> {
  const pictures = new Map<string, Artifact>();
  const app = new Hono();
  app.use(async (context, next) => {
    const why = refusal(context.req.raw);
    if (why !== undefined) return context.text(why, 403, guardHeaders);
    await next();
    for (const [name, value] of Object.entries(guardHeaders)) context.res.headers.set(name, value);
    return undefined;
  });
  app.get('/events', (context) => {
    const given = context.req.header('last-event-id') ?? context.req.query('after');
    const after = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
    const filter = readFilter(context.req.query('execution'), context.req.query('type'));
    if (filter === undefined) return context.text('execution: an id; type: names of events, with commas between', 400);
    return new Response(eventStream(deps, after, filter), {
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    });
  });
  app.get('/data/executions/:file{[0-9a-f-]{36}\\.json}', async (context) => {
    const id = readId(context.req.param('file').slice(0, -'.json'.length));
    const detail = id === undefined ? undefined : await detailWithPictures(deps, id, pictures);
    return detail === undefined ? context.notFound() : context.json(detail);
  });
  app.get('/local/submitters.json', async (context) => context.json(await submitters(deps)));
  app.get('/thumbs/:hash{[0-9a-f]{64}}', (context) => picture(deps, pictures.get(context.req.param('hash'))));
  app.get('*', (context) => file(deps, context.req.path));
  app.onError((error) => {
    deps.logger.error('monitor request failed', { error: String(error) });
    return new Response('internal error', { status: 500, headers: guardHeaders });
  });
  return async (request) => app.fetch(request);
}

async function file(deps: EventServerDeps, path: string): Promise<Response> {
  const name = path === '/' ? 'index.html' : path.slice(1);
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const isData = name === 'metrics.json' || name.startsWith('data/');
  const bytes = await (isData ? deps.data(name) : deps.page(name));
  if (bytes === undefined) return new Response('not found', { status: 404 });
  const headers = { 'content-type': type, date: new Date(deps.clock.nowMs()).toUTCString() };
  if (name !== 'index.html') return new Response(bytes, { headers });
  // Tells the page that more than static files is there.
  const html = new TextDecoder().decode(bytes).replace('<html ', '<html data-served="local" ');
  return new Response(html, { headers });
}

async function detailWithPictures(
  deps: EventServerDeps,
  id: ExecutionId,
  known: Map<string, Artifact>,
): Promise<JsonObject | undefined> {
  const detail = await executionFile(deps.store, id, deps.clock.nowMs());
  if (detail === undefined || deps.media === undefined) return detail;
  const nodes = await deps.store.nodes(id);
  const found = nodes.flatMap((node) => artifactsIn(node.output, 0)).filter((each) => pictureTypes.includes(each.mime));
  const unique = new Map(found.map((artifact) => [artifact.hash, artifact]));
  for (const [hash, artifact] of unique) {
    known.delete(hash);
    known.set(hash, artifact);
  }
  for (const [oldest] of known) {
    if (known.size <= mostKnownPictures) break;
    known.delete(oldest);
  }
  return { ...detail, thumbnails: [...unique.values()].map(({ hash, name }) => ({ hash, name })) };
}

function artifactsIn(value: unknown, depth: number): readonly Artifact[] {
  if (isArtifact(value)) return [value];
  if (typeof value !== 'object' || value === null || depth > 6) return [];
  return Object.values(value).flatMap((member) => artifactsIn(member, depth + 1));
}

async function picture(deps: EventServerDeps, artifact: Artifact | undefined): Promise<Response> {
  if (artifact === undefined || deps.media === undefined) return new Response('not found', { status: 404 });
  const read = await deps.media.read(artifact, new AbortController().signal);
  if (!read.ok) return new Response('no longer kept', { status: 404 });
  return new Response(new Uint8Array(read.value), { headers: { 'content-type': artifact.mime } });
}

/** Submitter → micro-yuan of this month. */
async function submitters(deps: EventServerDeps): Promise<Record<string, number>> {
  const month = deps.calendar.monthOf(deps.clock.nowMs());
  const charges = await deps.store.charges(deps.calendar.monthRange(month));
  const { rows } = ledgerBy(charges, 'submitter', month, deps.calendar.timezone);
  return Object.fromEntries(rows.map((row) => [row.key, row.cnyMicros]));
}

/** `?execution=ID&type=a,b`: what this subscriber wants to hear of. */
function readFilter(execution: string | undefined, types: string | undefined): EventFilter | undefined {
  const id = execution === undefined ? undefined : readId(execution);
  if (execution !== undefined && id === undefined) return undefined;
  const names = types?.split(',').filter((name) => name !== '');
  if (names?.some((name) => !/^[a-z][a-z-]*$/.test(name)) === true) return undefined;
  return {
    ...(id === undefined ? {} : { executionId: id }),
    ...(names === undefined || names.length === 0 ? {} : { types: names }),
  };
}

function readId(text: string): ExecutionId | undefined {
  try {
    return executionId(text);
  } catch {
    return undefined;
  }
}
