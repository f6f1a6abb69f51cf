import { createHash } from 'node:crypto';
import type { FindOutcome, PreparedRequest, ProviderDeps } from '../../contract/index.ts';
import { isJsonObject, type JsonObject } from '../../kernel/index.ts';
import {
  checkFailure,
  handleOf,
  isAboutAnother,
  parsePrepared,
  type VendorLine,
  vendorModelOf,
} from '../common/index.ts';
import { parseHttpDate } from '../http/index.ts';
import { listSchema, taskSchema } from './wire.ts';

/** The vendor's stamps are China's time. */
const chinaOffsetMs = 8 * 3_600_000;
/**
 * Looked for from so long before the request was built, by our clock put right by the vendor's: ours may have been wrong
 * then and put right since. More candidates only make the answer uncertain.
 */
const beforeMs = 600_000;
/** And until so long after now. */
const afterMs = 30_000;
/** Our clock and the vendor's agree when they differ by no more; a `Date` is whole seconds. */
const agreedMs = 10_000;
/** The vendor's longest span of a list, and the life of a record, less an hour to be sure. */
const longestSpanMs = 23 * 3_600_000;
/** Candidates that are looked at, one after the other; a busier window is left to a person. */
const maxCandidates = 25;

interface Search {
  readonly tasksUrl: string;
  readonly request: PreparedRequest;
  readonly line: VendorLine;
  readonly deps: ProviderDeps;
  readonly signal: AbortSignal;
}

/**
 * No client id here: tasks of the same model in the time of the submit are the candidates, and one is ours only if it
 * shows our prompt (`orig_prompt`). No candidate at all proves that none was accepted; anything between proves nothing.
 * Whether a task that is found belongs to a neighbour with the same model and prompt is for the engine to say, which knows
 * all calls (`likeness`).
 *
 * The window is one of the vendor's time, and `preparedAt` is of ours. The list's own `Date` says how far they differ: then
 * the window is moved. Only where they agree does an empty one prove anything.
 */
export async function findTask(search: Search, version: number): Promise<FindOutcome> {
  const { request, deps } = search;
  const uncertain = (message: string): FindOutcome => ({
    kind: 'check-failed',
    failure: { kind: 'unavailable', code: 'find.uncertain', message, provider: deps.account.id },
  });
  const { payload, preparedAt } = parsePrepared(request);
  if (preparedAt === undefined) return uncertain('the time of the submit is not known');
  const nowMs = deps.clock.nowMs();
  if (nowMs - preparedAt > longestSpanMs) return uncertain('too long ago: records last 24 hours');
  const doubt = (skewMs: number | undefined): string | undefined => {
    if (skewMs === undefined) return 'the list tells no time to judge it by';
    if (Math.abs(skewMs) > agreedMs) return `our clock and the vendor's differ by ${Math.round(skewMs / 1_000)} s`;
    return preparedAt > nowMs + agreedMs ? 'our clock was set back since the submit' : undefined;
  };
  const first = await listTasks(search, preparedAt, 0);
  if (first.kind === 'check-failed') return first;
  const { skewMs = 0 } = first;
  const list = Math.abs(skewMs) > agreedMs ? await listTasks(search, preparedAt, skewMs) : first;
  if (list.kind === 'check-failed') return list;
  if (list.taskIds.length > maxCandidates) return uncertain(`${list.taskIds.length} tasks of this model at that time`);
  const { ours, isEachTold } = await readPrompts(search, list.taskIds, promptOf(payload));
  const [task, second] = ours;
  if (second !== undefined) return uncertain('several tasks of that time show this prompt');
  if (task !== undefined)
    return { kind: 'found', handle: handleOf(task, request, { account: deps.account.id, version }) };
  if (!isEachTold) return uncertain('a task of that time does not show its prompt yet');
  const why = doubt(first.skewMs);
  return why === undefined ? { kind: 'not-found' } : uncertain(why);
}

type Listed =
  | { readonly kind: 'listed'; readonly taskIds: readonly string[]; readonly skewMs: number | undefined }
  | Extract<FindOutcome, { kind: 'check-failed' }>;

/** Tasks of the model from before the submit until now; `skewMs`: how far the vendor's clock is ahead of ours. */
async function listTasks(search: Search, preparedAt: number, skewMs: number): Promise<Listed> {
  const { tasksUrl, request, line, deps, signal } = search;
  const askedMs = deps.clock.nowMs();
  const from = stamp(Math.min(preparedAt, askedMs) + skewMs - beforeMs);
  const window = `start_time=${from}&end_time=${stamp(askedMs + skewMs + afterMs)}`;
  const model = encodeURIComponent(vendorModelOf(request));
  const url = `${tasksUrl}/?${window}&model_name=${model}&page_no=1&page_size=100`;
  const answer = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
  const list = answer.kind === 'json' && answer.status < 300 ? listSchema.safeParse(answer.json).data : undefined;
  if (answer.kind !== 'json' || list === undefined)
    return { kind: 'check-failed', failure: checkFailure(answer, line.context()) };
  const toldMs = parseHttpDate(answer.headers.get('date'));
  return {
    kind: 'listed',
    taskIds: list.data.map((each) => each.task_id),
    skewMs: toldMs === undefined ? undefined : skewOf(toldMs, askedMs, deps.clock.nowMs()),
  };
}

/** The vendor wrote its time somewhere between question and answer. */
function skewOf(toldMs: number, askedMs: number, answeredMs: number): number {
  return toldMs - Math.min(Math.max(toldMs, askedMs), answeredMs);
}

async function readPrompts(
  { tasksUrl, line, deps, signal }: Search,
  taskIds: readonly string[],
  prompt: unknown,
): Promise<{ readonly ours: readonly string[]; readonly isEachTold: boolean }> {
  const ours: string[] = [];
  let isEachTold = true;
  for (const taskId of taskIds) {
    const url = `${tasksUrl}/${encodeURIComponent(taskId)}`;
    const look = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
    const seen = look.kind === 'json' ? taskSchema.safeParse(look.json).data?.output : undefined;
    const shown = isAboutAnother(seen?.task_id, { taskId }) ? undefined : seen?.orig_prompt;
    if (typeof shown !== 'string') isEachTold = false;
    else if (shown === prompt) ours.push(taskId);
  }
  return { ours, isEachTold };
}

/** All that a task shows of its request: of two calls that differ in their pictures only, nobody can tell whose it is. */
export function likenessOf(payload: JsonObject): string {
  const shown = JSON.stringify([payload['model'] ?? null, promptOf(payload) ?? null]);
  return createHash('sha256').update(shown).digest('hex');
}

function promptOf(payload: Readonly<Record<string, unknown>>): unknown {
  const { input } = payload;
  return isJsonObject(input) ? input['prompt'] : undefined;
}

/** `YYYYMMDDhhmmss` in China's time. */
function stamp(atMs: number): string {
  return new Date(atMs + chinaOffsetMs).toISOString().replace(/[-:T]/g, '').slice(0, 14);
}
