import { join } from 'node:path';
import { measure } from './lib/child.mjs';
import { median, medians, ratio, round } from './lib/figures.mjs';
import { goals } from './lib/goals.mjs';
import { requirePeers } from './lib/peers.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { temporaryDirectory } from './lib/world.mjs';

const script = (name) => new URL(`./engine/${name}.mjs`, import.meta.url);
const peerNames = ['openworkflow', 'dbos', 'bullmq'];

/**
 * Before the clock runs, for every contender: 200 executions, and more of them until two seconds have passed. What is
 * measured is a worker that runs, not one that starts.
 */
const warm = { count: 200, ms: 2_000 };
const asLaunched = { asLaunched: true };

/**
 * 1,000 executions of five durable steps, 10 and 100 in flight: product, raw limit and peers, turn by turn in one run. The
 * product has the store and the memory settings of a live worker: under this load its writer has moved to a thread by the
 * time that the clock runs. Beside it: the writer kept on the event loop, and the memory settings that Node has by itself, which the
 * peers have too.
 */
export async function benchEngine({ runs = 5, executions = 1_000, say }) {
  requirePeers();
  const postgres = await startPostgres();
  const directory = temporaryDirectory();
  try {
    const rounds = [];
    for (let run = 1; run <= runs; run += 1) {
      say(`engine: run ${run} of ${runs}`);
      rounds.push(await oneRound({ executions, postgres, directory, say }));
    }
    return report(rounds, runs);
  } finally {
    directory.remove();
    await postgres.stop();
  }
}

async function oneRound({ executions, postgres, directory, say }) {
  const round = { product: {}, limit: {}, peers: {} };
  for (const inFlight of [10, 100]) {
    const recordTo = join(directory.path, `rows-${inFlight}.json`);
    const input = { executions, warm, inFlight };
    await measure(script('product'), { ...input, recordTo }, asLaunched);
    const product = await measure(script('product'), input, asLaunched);
    const onLoop = await measure(script('product'), { ...input, writer: 'loop' }, asLaunched);
    const plain = await measure(script('product'), input);
    const raw = await measure(script('raw-limit'), { recordTo, executions });
    round.product[`steps_per_s_${inFlight}`] = product.steps_per_s;
    // Of both processors; on a busy machine it says more than the rate does.
    round.product[`cpu_us_per_step_${inFlight}`] = product.cpu_us_per_step;
    round.product[`is_writer_in_thread_${inFlight}`] = product.is_writer_in_thread;
    round.product[`lists_per_group_${inFlight}`] = product.lists_per_group;
    round.product[`steps_per_s_${inFlight}_writer_kept_on_loop`] = onLoop.steps_per_s;
    round.product[`steps_per_s_${inFlight}_node_memory`] = plain.steps_per_s;
    round.limit[`steps_per_s_${inFlight}_grouped`] = raw.grouped;
    round.limit[`cpu_us_per_step_${inFlight}_grouped`] = raw.grouped_cpu_us_per_step;
    round.limit[`steps_per_s_${inFlight}_ungrouped`] = raw.ungrouped;
    round.limit[`lists_per_group_${inFlight}`] = raw.lists_per_group;
    round.limit.rows_per_step = raw.rows_per_step;
    for (const name of peerNames) {
      const url = await postgres.createDatabase();
      const peer = await measure(script(`peer-${name}`), { ...input, url });
      round.peers[name] ??= {};
      round.peers[name][`steps_per_s_${inFlight}`] = peer.steps_per_s;
      say(`  ${name}, ${inFlight} in flight: ${Math.round(peer.steps_per_s)} steps/s`);
    }
    say(`  product, ${inFlight} in flight: ${Math.round(product.steps_per_s)} steps/s; raw ${Math.round(raw.grouped)}`);
  }
  Object.assign(round.product, await measure(script('compile'), {}));
  return round;
}

function report(rounds, runs) {
  const product = medians(rounds.map((one) => one.product));
  const limit = medians(rounds.map((one) => one.limit));
  const peers = Object.fromEntries(peerNames.map((name) => [name, medians(rounds.map((one) => one.peers[name]))]));
  const at100 = (name) => peers[name].steps_per_s_100;
  const ratios = {
    to_limit: round(median(rounds.map((one) => one.product.steps_per_s_100 / one.limit.steps_per_s_100_grouped))),
    to_limit_ungrouped: ratio(product.steps_per_s_100, limit.steps_per_s_100_ungrouped),
    to_best_peer: ratio(product.steps_per_s_100, Math.max(...peerNames.map(at100))),
    to_best_workflow_engine: ratio(product.steps_per_s_100, Math.max(at100('openworkflow'), at100('dbos'))),
    to_bullmq: ratio(product.steps_per_s_100, at100('bullmq')),
  };
  const met = goals({
    to_limit: [ratios.to_limit, { atLeast: 0.5 }],
    to_best_workflow_engine: [ratios.to_best_workflow_engine, { atLeast: 15 }],
    to_bullmq: [ratios.to_bullmq, { atLeast: 3 }],
    compile_2000_nodes_ms: [product.compile_2000_nodes_ms, { atMost: 100 }],
  });
  return { bench: 'engine', runs, product, limit, peers, ratios, goals: met };
}
