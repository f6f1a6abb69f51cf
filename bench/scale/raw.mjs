import pg from 'pg';
import { serveCrew } from '../lib/crew.mjs';

/** The limit: jobs claimed with SKIP LOCKED and completed under their claim, ten connections a process, nothing else. */
serveCrew(async ({ url }) => {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  await pool.query('SELECT 1');
  return async () => {
    let done = 0;
    const worker = async () => {
      for (;;) {
        const claimed = await pool.query(
          `UPDATE jobs SET state = 'active', epoch = epoch + 1 WHERE id =
             (SELECT id FROM jobs WHERE state = 'queued' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, epoch`,
        );
        const job = claimed.rows[0];
        if (job === undefined) return;
        await pool.query(`UPDATE jobs SET state = 'done' WHERE id = $1 AND epoch = $2`, [job.id, job.epoch]);
        done += 1;
      }
    };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 10 }, worker));
    return { seconds: (performance.now() - startedAt) / 1000, done };
  };
});
