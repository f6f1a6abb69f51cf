import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What a browser or another process does is waited for; on a busy machine a second is nothing.
    expect: { poll: { timeout: 15_000 } },
  },
});
