import { defineConfig } from 'vitest/config';

/**
 * What must hold on either store: crashes, field cases, and the engine's and the table's promises about what survives. Each
 * of these opens its store through `test/support/test-store.ts`.
 */
const onBothStores = [
  'test/crash/{failpoints,sigterm}.test.ts',
  'test/cases/{in-flight,large-text,stopping,told,twins,twins-engine}.test.ts',
  'test/engine/{control,doubt,found-again,paid-call,peers,restart,retried-doubt,reuse,set-aside,sweep,two-doubts}.test.ts',
  'test/bitable/{overtaken,pending-start,try-on-row,typed-over,write-back}.test.ts',
];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What a browser or another process does is waited for; on a busy machine a second is nothing.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      { extends: true, test: { name: 'sqlite', include: ['test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: onBothStores,
          env: { TEST_STORE: 'postgres' },
          globalSetup: 'test/support/postgres-setup.ts',
          // Days of virtual time are thousands of round trips here.
          testTimeout: 120_000,
        },
      },
    ],
  },
});
