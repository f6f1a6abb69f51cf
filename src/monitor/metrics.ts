import type { Store } from '../engine/ports/index.ts';
import type { Clock, JsonObject, Logger } from '../kernel/index.ts';
import { createStoredState } from './alert-state.ts';
import type { Calendar } from './calendar.ts';
import { emptyMetricsState, type MetricsState, metricsStateSchema, trimDays } from './day-counts.ts';
import { createDetailQueue } from './detail-queue.ts';
import { executionFile } from './execution-file.ts';
import { listJson } from './execution-list.ts';
import type { MonitorFiles } from './files.ts';
import { createLiveExecutions, type ExecutionLine } from './live-executions.ts';
import { createMetricsFold } from './metrics-fold.ts';
import { type MetricsInputs, metricsJson } from './metrics-json.ts';

export interface MetricsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly calendar: Calendar;
  readonly files: MonitorFiles;
  /** What other parts of the program know, asked at each write. */
  readonly inputs: () => MetricsInputs;
  /** Whether people confirm after this stage, for the decisions view. */
  readonly isConfirmPoint: (agent: string, stage: string) => boolean;
}

export interface Metrics {
  /** Reads the log on, and writes what changed. Never rejects. */
  flush(): Promise<void>;
  /** `metrics.json` as of the last flush, for the local server. */
  current(): JsonObject;
  lines(): readonly ExecutionLine[];
  start(): void;
  /** Stops, writes a last time, and stores the counters. */
  stop(): Promise<void>;
}

/** `metrics.json` is at most this old while the worker lives. */
const writeEveryMs = 1_000;
const listEveryMs = 4_000;
const storeEveryMs = 60_000;
/** Single-execution files: at most so many written a second, so many kept. */
const detailsPerWrite = 2;
const mostDetails = 1_000;
const detailFolder = 'data/executions';

/**
 * The metrics: counters folded from the event log (each event once: counters and cursor are stored together), money from
 * the ledger, and the page's files. What one second brings is taken in together; nothing is read again that did not
 * change, so the cost follows the number of events, not of executions.
 */
export function createMetrics(deps: MetricsDeps): Metrics {
  const { clock, store, calendar } = deps;
  const stored = createStoredState<MetricsState>(deps, 'metrics', metricsStateSchema, emptyMetricsState);
  const live = createLiveExecutions();
  const details = createDetailQueue();
  let state = emptyMetricsState();
  let bookDay = '';
  let isOpen = false;
  let isListStale = true;
  let listAt = -Infinity;
  let savedAt = -Infinity;
  let isUnsaved = false;
  let running: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  const fold = createMetricsFold({
    ...deps,
    live,
    state: () => state,
    onMove: (id, isRest) => {
      isListStale = true;
      details.touch(id, isRest);
    },
  });

  const open = async (): Promise<void> => {
    state = await stored.load();
    if (state.cursor < 0) state.cursor = await store.lastEventSeq();
    await fold.open();
    for (const name of await deps.files.list(detailFolder)) details.known(name.replace(/\.json$/, ''));
    isOpen = true;
  };
  const current = (): JsonObject => metricsJson(state, live.counts(), deps.inputs(), calendar, clock.nowMs());
  const writeDetails = async (nowMs: number): Promise<void> => {
    for (const id of details.take(detailsPerWrite, clock.monotonicMs())) {
      const detail = await executionFile(store, id, nowMs);
      if (detail === undefined) continue;
      await deps.files.replace(`${detailFolder}/${id}.json`, JSON.stringify(detail), { isSynced: false });
    }
    for (const id of details.surplus(mostDetails)) await deps.files.remove(`${detailFolder}/${id}.json`);
  };
  const work = async (): Promise<void> => {
    if (!isOpen) await open();
    const nowMs = clock.nowMs();
    const today = calendar.dayOf(nowMs);
    if (today !== bookDay) {
      await fold.book.reload(nowMs);
      trimDays(state, today);
      bookDay = today;
    }
    if ((await fold.readOn()) > 0) isUnsaved = true;
    await deps.files.replace('metrics.json', JSON.stringify(current()));
    if (isListStale && clock.monotonicMs() - listAt >= listEveryMs) {
      isListStale = false;
      listAt = clock.monotonicMs();
      await deps.files.replace('data/executions.json', listJson(live.lines(), nowMs), { isSynced: false });
    }
    await writeDetails(nowMs);
    if (isUnsaved && clock.monotonicMs() - savedAt >= storeEveryMs) await save();
  };
  const save = async (): Promise<void> => {
    isUnsaved = false;
    savedAt = clock.monotonicMs();
    await stored.save(state);
  };
  const flush = (): Promise<void> =>
    (running ??= work()
      .catch((error: unknown) => {
        deps.logger.error('metrics not written', { error: String(error) });
      })
      .finally(() => {
        running = undefined;
      }));
  const arm = (delayMs: number): void => {
    cancel = clock.after(delayMs, () => {
      const startedMs = clock.monotonicMs();
      void flush().finally(() => {
        // Work and timer together stay within the second that the file may be old.
        if (cancel !== undefined) arm(Math.max(100, writeEveryMs - 50 - (clock.monotonicMs() - startedMs)));
      });
    });
  };
  return {
    flush,
    current,
    lines: () => live.lines(),
    start: () => {
      arm(0);
    },
    stop: async () => {
      cancel?.();
      cancel = undefined;
      await running;
      listAt = -Infinity;
      await flush();
      if (isOpen) await save();
    },
  };
}
