import { PgBoss } from 'pg-boss';
import { serveCrew } from '../lib/crew.mjs';

/** Plain pg-boss. `work`: jobs that do nothing. `hang`: takes its job and never ends it, with its defaults but heartbeats. */
serveCrew(async ({ role, url, expected }) => {
  const boss = new PgBoss({ connectionString: url, schedule: false });
  boss.on('error', () => undefined);
  await boss.start();
  if (role === 'hang') {
    await boss.createQueue('hang', { heartbeatSeconds: 10 });
    return async () =>
      await new Promise((resolve) => {
        void boss.work('hang', { pollingIntervalSeconds: 0.5 }, async () => {
          resolve({ takenAt: Date.now() });
          await new Promise(() => undefined);
        });
      });
  }
  return async () => {
    let done = 0;
    const startedAt = performance.now();
    let lastAt = startedAt;
    await boss.work('steps', { batchSize: 50, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true }, async (jobs) => {
      done += jobs.length;
      lastAt = performance.now();
    });
    const left = `SELECT count(*)::int AS jobs FROM pgboss.job WHERE name = 'steps' AND state < 'completed'`;
    const isEmpty = async () => (await boss.getDb().executeSql(left)).rows[0].jobs === 0;
    while (done < expected && !(await isEmpty())) await new Promise((resolve) => setTimeout(resolve, 100));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { seconds: (lastAt - startedAt) / 1000, done };
  };
});
