import type { AlertInput, Severity } from './alert.ts';
import type { AlertState } from './alert-state.ts';

/**
 * Folding, as pure bookkeeping on the stored state.
 *
 * A title that comes for the first time goes out at once, alone. Until its cooldown has passed it is only counted; then the
 * count goes out with everything else that waits, in one digest. At most `singlesPerWindow` alerts go out alone within a
 * cooldown (fatal ones always do); the titles beyond that wait for the digest: the first digest of a storm comes after
 * `firstDigestMs`, the next not before a cooldown has passed. So a storm of any size is at most three single messages, an
 * early digest and a closing one.
 */
const singlesPerWindow = 3;
const firstDigestMs = 60_000;
const mostBuckets = 500;
const mostLines = 15;

/** A message that the bookkeeping wants sent. */
export interface Outgoing {
  readonly title: string;
  readonly text: string;
  readonly severity: Severity;
  readonly count: number;
}

/** Records one alert; returns the message to send now, if any. */
export function foldAlert(
  state: AlertState,
  input: AlertInput,
  nowMs: number,
  cooldownMs: number,
): Outgoing | undefined {
  if (input.key !== undefined) state.raised[input.key] ??= { title: input.title, since: nowMs };
  const bucket = state.buckets[input.title];
  if (bucket !== undefined && nowMs - bucket.sentAt < cooldownMs) {
    bucket.folded += 1;
    bucket.lastText = input.text;
    if (rank(input.severity) > rank(bucket.severity)) bucket.severity = input.severity;
    return undefined;
  }
  trimBuckets(state);
  const before = bucket?.folded ?? 0;
  state.buckets[input.title] = { severity: input.severity, sentAt: nowMs, folded: 0, lastText: input.text };
  state.singles = state.singles.filter((at) => nowMs - at < cooldownMs);
  if (input.severity === 'fatal' || state.singles.length < singlesPerWindow) {
    state.singles.push(nowMs);
    return { title: input.title, text: input.text, severity: input.severity, count: before + 1 };
  }
  addToDigest(state, input, before + 1, nowMs);
  return undefined;
}

/** What has fallen due: folded counts move into the digest, and the digest out. */
export function sweep(state: AlertState, nowMs: number, cooldownMs: number): Outgoing | undefined {
  for (const [title, bucket] of Object.entries(state.buckets)) {
    if (nowMs - bucket.sentAt < cooldownMs) continue;
    if (bucket.folded === 0) {
      continue;
    }
    addToDigest(state, { title, text: bucket.lastText, severity: bucket.severity }, bucket.folded, nowMs);
    bucket.folded = 0;
    bucket.sentAt = nowMs;
  }
  state.buckets = keepOnly(state.buckets, (bucket) => nowMs - bucket.sentAt < cooldownMs);
  if (state.digest === null || nowMs < digestDueAt(state, cooldownMs)) return undefined;
  const outgoing = digestMessage(state.digest.entries);
  state.digest = null;
  state.lastDigestAt = nowMs;
  return outgoing;
}

/** When `sweep` has something to do next; undefined when nothing waits. */
export function nextSweepAt(state: AlertState, cooldownMs: number): number | undefined {
  const times = Object.values(state.buckets)
    .filter((bucket) => bucket.folded > 0)
    .map((bucket) => bucket.sentAt + cooldownMs);
  if (state.digest !== null) times.push(digestDueAt(state, cooldownMs));
  return times.length === 0 ? undefined : Math.min(...times);
}

function digestDueAt(state: AlertState, cooldownMs: number): number {
  const since = state.digest?.since ?? 0;
  return Math.max(since + Math.min(firstDigestMs, cooldownMs), state.lastDigestAt + cooldownMs);
}

function addToDigest(state: AlertState, input: AlertInput, count: number, nowMs: number): void {
  state.digest ??= { since: nowMs, entries: {} };
  const entry = state.digest.entries[input.title];
  state.digest.entries[input.title] = {
    severity: entry !== undefined && rank(entry.severity) > rank(input.severity) ? entry.severity : input.severity,
    count: (entry?.count ?? 0) + count,
    text: input.text,
  };
}

function digestMessage(entries: NonNullable<AlertState['digest']>['entries']): Outgoing {
  const all = Object.entries(entries).sort(
    ([, left], [, right]) => rank(right.severity) - rank(left.severity) || right.count - left.count,
  );
  const total = all.reduce((sum, [, entry]) => sum + entry.count, 0);
  const severity = all.reduce<Severity>(
    (worst, [, entry]) => (rank(entry.severity) > rank(worst) ? entry.severity : worst),
    'info',
  );
  const [first] = all;
  if (first !== undefined && all.length === 1) {
    const [title, entry] = first;
    return { title: `${title}（又 ${entry.count} 次）`, text: entry.text, severity, count: total };
  }
  const lines = all
    .slice(0, mostLines)
    .map(([title, entry]) => `· ${title} ×${entry.count}：${shorten(entry.text, 160)}`);
  if (all.length > mostLines) {
    const rest = all.slice(mostLines);
    lines.push(
      `· 其余 ${rest.length} 类，共 ${rest.reduce((sum, [, entry]) => sum + entry.count, 0)} 次（详见监控页）`,
    );
  }
  return { title: `告警汇总：${all.length} 类，共 ${total} 次`, text: lines.join('\n'), severity, count: total };
}

/** Oldest buckets go when too many titles are open; their counts go to the digest, so none is lost. */
function trimBuckets(state: AlertState): void {
  const titles = Object.keys(state.buckets);
  if (titles.length < mostBuckets) return;
  const [oldest] = Object.entries(state.buckets).sort(([, left], [, right]) => left.sentAt - right.sentAt);
  if (oldest === undefined) return;
  const [title, bucket] = oldest;
  if (bucket.folded > 0)
    addToDigest(state, { title, text: bucket.lastText, severity: bucket.severity }, bucket.folded, bucket.sentAt);
  state.buckets = keepOnly(state.buckets, (entry) => entry !== bucket);
}

function keepOnly(
  buckets: AlertState['buckets'],
  isKept: (bucket: AlertState['buckets'][string]) => boolean,
): AlertState['buckets'] {
  return Object.fromEntries(Object.entries(buckets).filter(([, bucket]) => isKept(bucket)));
}

function rank(severity: Severity): number {
  return ['info', 'warning', 'error', 'fatal'].indexOf(severity);
}

export function shorten(text: string, most: number): string {
  const points = Array.from(text);
  return points.length <= most ? text : `${points.slice(0, most - 1).join('')}…`;
}
