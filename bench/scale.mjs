import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { startCrew } from './lib/crew.mjs';
import { medians, ratio, round } from './lib/figures.mjs';
import { requirePeers } from './lib/peers.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { temporaryDirectory } from './lib/world.mjs';

const script = (name) => new URL(`./scale/${name}.mjs`, import.meta.url);
const executions = 1_200;
const waitingRows = 100;
const kills = 3;
const settleMs = 2_000;

/**
 * One, two and three workers on one PostgreSQL: five-step executions a second (submitted, announced through pg-boss, driven by
 * whichever worker takes them up, told through the outbox), beside raw SKIP LOCKED and plain pg-boss jobs on the same server;
 * then a worker is killed with every row at the vendor, and another takes them over.
 */
export async function benchScale({ runs = 3, say }) {
  requirePeers();
  const postgres = await startPostgres();
  try {
    const rounds = [];
    for (let run = 1; run <= runs; run += 1) {
      say(`scale: run ${run} of ${runs}`);
      rounds.push(await oneRound(postgres, say));
    }
    const product = medians(rounds.map((one) => one.product));
    // No median over what must never happen, nor over the worst.
    product.takeover_worst_ms = Math.max(...rounds.map((one) => one.product.takeover_worst_ms));
    product.second_submits = rounds.reduce((sum, one) => sum + one.product.second_submits, 0);
    const limit = medians(rounds.map((one) => one.limit));
    const peers = { 'pg-boss': medians(rounds.map((one) => one.pgBoss)) };
    say('scale: take-over of pg-boss with its defaults (about a minute)');
    peers['pg-boss'].takeover_ms = round(await measurePgBossTakeOver(await postgres.createDatabase()));
    const ratios = {
      two_to_one: ratio(product.executions_per_s_2, product.executions_per_s_1),
      three_to_one: ratio(product.executions_per_s_3, product.executions_per_s_1),
      takeover_to_pg_boss: ratio(peers['pg-boss'].takeover_ms, product.takeover_ms),
    };
    return { bench: 'scale', runs, product, limit, peers, ratios };
  } finally {
    await postgres.stop();
  }
}

async function oneRound(postgres, say) {
  const round = { product: {}, limit: {}, pgBoss: {} };
  for (const workers of [1, 2, 3]) {
    round.product[`executions_per_s_${workers}`] = await measureWorkers(await postgres.createDatabase(), workers);
    round.limit[`skip_locked_jobs_per_s_${workers}`] = await measureRaw(await postgres.createDatabase(), workers);
    round.pgBoss[`jobs_per_s_${workers}`] = await measurePgBoss(await postgres.createDatabase(), workers);
    say(`  ${workers} workers: ${Math.round(round.product[`executions_per_s_${workers}`])} executions/s`);
  }
  const takeOvers = [];
  for (let kill = 0; kill < kills; kill += 1) takeOvers.push(await measureTakeOver(await postgres.createDatabase()));
  const times = takeOvers.map(({ takeover_ms }) => takeover_ms).toSorted((left, right) => left - right);
  round.product.takeover_ms = times[Math.floor(kills / 2)];
  round.product.takeover_worst_ms = times.at(-1);
  round.product.second_submits = takeOvers.reduce((sum, { second_submits }) => sum + second_submits, 0);
  say(`  taken over in ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
  return round;
}

async function measureWorkers(url, workers) {
  const share = Math.round(executions / workers);
  const inputs = Array.from({ length: workers }, (_unused, index) => ({
    role: 'steps',
    url,
    owner: `worker-${index}`,
    executions: share,
    inFlight: 100,
  }));
  const crew = await startCrew(script('worker'), inputs);
  const figures = await crew.go();
  crew.end();
  return (share * workers) / Math.max(...figures.map(({ seconds }) => seconds));
}

async function measureRaw(url, workers) {
  await withClient(url, async (client) => {
    await client.query(`CREATE TABLE jobs (id serial PRIMARY KEY, state text NOT NULL, epoch int NOT NULL DEFAULT 0)`);
    await client.query(`CREATE INDEX ON jobs (id) WHERE state = 'queued'`);
    await client.query(`INSERT INTO jobs (state) SELECT 'queued' FROM generate_series(1, 3000)`);
  });
  return await jobsPerSecond(
    'raw',
    Array.from({ length: workers }, () => ({ url })),
  );
}

async function measurePgBoss(url, workers) {
  const boss = new PgBoss({ connectionString: url, schedule: false });
  await boss.start();
  await boss.createQueue('steps');
  const expected = 3_000;
  for (let index = 0; index < expected; index += 500) {
    await boss.insert(
      'steps',
      Array.from({ length: 500 }, (_unused, offset) => ({ data: { value: index + offset } })),
    );
  }
  await boss.stop({ graceful: false });
  return await jobsPerSecond(
    'pg-boss',
    Array.from({ length: workers }, () => ({ role: 'work', url, expected })),
  );
}

async function jobsPerSecond(name, inputs) {
  const crew = await startCrew(script(name), inputs);
  const figures = await crew.go();
  crew.end();
  const done = figures.reduce((sum, figure) => sum + figure.done, 0);
  return done / Math.max(...figures.map(({ seconds }) => seconds));
}

/** From the kill until the other worker owns every row; then every submit that the vendor saw is counted. */
async function measureTakeOver(url) {
  const directory = temporaryDirectory();
  const submitsFile = join(directory.path, 'submits');
  writeFileSync(submitsFile, '');
  const shared = { url, submitsFile };
  const first = await startCrew(script('worker'), [
    { ...shared, role: 'wait', owner: 'first', executions: waitingRows },
  ]);
  await first.go();
  const second = await startCrew(script('worker'), [{ ...shared, role: 'take-over', owner: 'second' }]);
  await second.go();
  // One that has settled, as whoever takes over in life has.
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  try {
    return await withClient(url, async (client) => {
      const killedAt = performance.now();
      first.end();
      const owned = `SELECT count(*)::int AS rows FROM gridloom.executions WHERE owner = 'second'`;
      while ((await client.query(owned)).rows[0].rows < waitingRows) {
        if (performance.now() - killedAt > 60_000) throw new Error('nobody took the rows over');
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const takeover_ms = performance.now() - killedAt;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const submits = readFileSync(submitsFile, 'utf8').trim().split('\n').length;
      return { takeover_ms, second_submits: submits - waitingRows };
    });
  } finally {
    second.end();
    directory.remove();
  }
}

async function measurePgBossTakeOver(url) {
  const first = await startCrew(script('pg-boss'), [{ role: 'hang', url }]);
  const boss = new PgBoss({ connectionString: url, schedule: false });
  await boss.start();
  await boss.send('hang', {});
  await first.go();
  const second = await startCrew(script('pg-boss'), [{ role: 'hang', url }]);
  const taken = second.go();
  const killedAt = Date.now();
  first.end();
  const [{ takenAt }] = await taken;
  second.end();
  await boss.stop({ graceful: false });
  return takenAt - killedAt;
}

async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
