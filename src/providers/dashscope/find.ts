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
import { listSchema, taskSchema } from './wire.ts';

/** The vendor's clock is China's. */
const chinaOffsetMs = 8 * 3_600_000;
/** Looked for from a little before the request was built (clocks differ) until now: it may have waited for its turn. */
const beforeMs = 30_000;
/** The vendor's longest span of a list, and the life of a record, less an hour to be sure. */
const longestSpanMs = 23 * 3_600_000;
/** Candidates that are looked at; a busier window is left to a person. */
const maxCandidates = 10;

/**
 * No client id here: tasks of the same model in the time of the submit are the candidates, and one is ours only if it
 * shows our prompt (`orig_prompt`). No candidate at all proves that none was accepted; anything between proves nothing.
 * Whether a task that is found belongs to a neighbour with the same model and prompt is for the engine to say, which knows
 * all calls (`likeness`).
 */
export async function findTask(
  tasksUrl: string,
  request: PreparedRequest,
  line: VendorLine,
  deps: ProviderDeps,
  signal: AbortSignal,
  version: number,
): Promise<FindOutcome> {
  const { payload, preparedAt } = parsePrepared(request);
  const uncertain = (message: string): FindOutcome => ({
    kind: 'check-failed',
    failure: { kind: 'unavailable', code: 'find.uncertain', message, provider: deps.account.id },
  });
  if (preparedAt === undefined) return uncertain('the time of the submit is not known');
  const nowMs = deps.clock.nowMs();
  if (nowMs - preparedAt > longestSpanMs) return uncertain('too long ago: records last 24 hours');
  const window = `start_time=${stamp(preparedAt - beforeMs)}&end_time=${stamp(nowMs + beforeMs)}`;
  const model = encodeURIComponent(vendorModelOf(request));
  const url = `${tasksUrl}/?${window}&model_name=${model}&page_no=1&page_size=100`;
  const answer = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
  const list = answer.kind === 'json' && answer.status < 300 ? listSchema.safeParse(answer.json).data : undefined;
  if (list === undefined) return { kind: 'check-failed', failure: checkFailure(answer, line.context()) };
  if (list.data.length === 0) return { kind: 'not-found' };
  if (list.data.length > maxCandidates) return uncertain(`${list.data.length} tasks of this model at that time`);
  const prompt = promptOf(payload);
  const ours: string[] = [];
  let isEachTold = true;
  for (const { task_id: taskId } of list.data) {
    const url = `${tasksUrl}/${encodeURIComponent(taskId)}`;
    const look = await line.send({ method: 'GET', url }, deps.timeouts.queryMs, signal);
    const seen = look.kind === 'json' ? taskSchema.safeParse(look.json).data?.output : undefined;
    const shown = isAboutAnother(seen?.task_id, { taskId }) ? undefined : seen?.orig_prompt;
    if (typeof shown !== 'string') isEachTold = false;
    else if (shown === prompt) ours.push(taskId);
  }
  const [first, second] = ours;
  if (second !== undefined) return uncertain('several tasks of that time show this prompt');
  if (first !== undefined) {
    return { kind: 'found', handle: handleOf(first, request, { account: deps.account.id, version }) };
  }
  return isEachTold ? { kind: 'not-found' } : uncertain('a task of that time does not show its prompt yet');
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
