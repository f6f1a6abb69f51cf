import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventRecord, EventType } from '../../../src/engine/ports/index.ts';
import type { JsonObject } from '../../../src/kernel/index.ts';
import {
  createAlerter,
  createCalendar,
  createMemoryFiles,
  createMetrics,
  createEventAlerts,
  type AlertInput,
} from '../../../src/monitor/index.ts';
import { eventAlert } from '../../../src/monitor/event-words.ts';
import { createKit, event, executionRecord, timezone } from '../../monitor/kit.ts';
import { fuzzRuns } from '../../providers/fuzz-runs.ts';

const types = [
  ...(['execution-queued', 'execution-started', 'execution-held', 'execution-resumed', 'execution-ended'] as const),
  ...([
    'workflow-chosen',
    'cancel-requested',
    'node-started',
    'node-waiting',
    'node-reused',
    'node-succeeded',
  ] as const),
  ...(['node-skipped', 'node-failed', 'node-degraded', 'node-held', 'attempt-intended', 'attempt-accepted'] as const),
  ...(['attempt-refused', 'attempt-unknown', 'attempt-found', 'attempt-settled', 'attempt-overdue'] as const),
  ...(['attempt-resolved', 'output-refused', 'candidate-switched', 'candidates-exhausted', 'charge-settled'] as const),
  ...(['late-result', 'provider-paused', 'provider-resumed', 'budget-warning', 'budget-reached'] as const),
  ...(['status-unrecognised', 'worker-started', 'worker-stopped', 'notice'] as const),
] satisfies readonly EventType[];

const names = fc.constantFrom(
  ...['node', 'title', 'provider', 'model', 'from', 'to', 'failure', 'kind', 'code', 'message', 'policy', 'attemptId'],
  ...[
    'atRiskCny',
    'statusWord',
    'name',
    'budget',
    'limit',
    'amount',
    'status',
    'reason',
    'text',
    'advice',
    '__proto__',
  ],
  ...[
    'marks',
    'output',
    'cnyMicros',
    'currency',
    'usage',
    'table',
    'column',
    'waitMs',
    'branch',
    'capability',
    'mediaClass',
  ],
);
const { data } = fc.letrec<{ data: JsonObject; value: unknown }>((tie) => ({
  data: fc.dictionary(names, tie('value'), { maxKeys: 6 }) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('overload', 'unknown-outcome', 'overdue', 'retry', 'hold', 'succeeded', '<script>', '{{x}}'),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('data'),
  ),
}));

describe('fuzz: events', () => {
  it('of any content become an alert in words, or none, never an exception', () => {
    fc.assert(
      fc.property(fc.constantFrom(...types), data, fc.integer({ min: 1 }), (type, content, seq) => {
        const record: EventRecord = { seq, at: 1, type, data: content };
        const alert = eventAlert(record);
        if (alert?.kind !== 'alert') return;
        expect(alert.input.title.length).toBeGreaterThan(0);
        expect(`${alert.input.title}${alert.input.text}`).not.toContain('[object Object]');
      }),
      fuzzRuns(400),
    );
  });

  it('do not stop the counting, nor the alerts that come after them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...types), data), { maxLength: 30 }), async (list) => {
        const kit = createKit();
        const alerts: AlertInput[] = [];
        const alerter = createAlerter({ ...kit, channels: [], cooldownMs: 600_000 });
        const errors: string[] = [];
        const logger = { ...kit.logger, error: (message: string) => errors.push(message) };
        const files = createMemoryFiles();
        const metrics = createMetrics({
          ...kit,
          logger: { ...logger, child: () => kit.logger },
          calendar: createCalendar(timezone),
          files,
          isConfirmPoint: () => false,
          inputs: () => ({
            mode: 'sandbox',
            intervalMs: 30_000,
            workers: [],
            feishu: { plan: 'basic', callsThisMonth: 0, monthlyBudget: 1, isConnected: true, lastEventAt: null },
            balances: [],
            alerter,
            waiting: {},
            isPaused: false,
            lagMs: 0,
            disk: { freeBytes: 1, minFreeBytes: 1 },
          }),
        });
        const follower = createEventAlerts({
          ...kit,
          alerter: {
            alert: (input) => {
              alerts.push(input);
              return Promise.resolve();
            },
            recover: () => Promise.resolve(),
          },
        });
        await follower.catchUp();
        const execution = executionRecord(kit);
        await kit.store.commit([{ type: 'create-execution', record: execution }]);
        await kit.store.commit(list.map(([type, content]) => event(kit, type, content, execution)));
        await kit.store.commit([event(kit, 'provider-paused', { provider: 'last-one' })]);
        await metrics.flush();
        await follower.catchUp();
        expect(errors).toEqual([]);
        expect(files.read('metrics.json')).toContain('updated_at');
        expect(alerts.at(-1)?.title).toContain('last-one');
        await kit.store.close();
      }),
      fuzzRuns(60),
    );
  });
});
