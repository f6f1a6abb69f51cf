import { execFile, fork } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { measure } from './lib/child.mjs';
import { goals } from './lib/goals.mjs';
import { medians, ratio, round } from './lib/figures.mjs';
import { temporaryDirectory } from './lib/world.mjs';

const run = promisify(execFile);
const script = (name) => new URL(`./transfer/${name}.mjs`, import.meta.url);
const mebibyte = 1024 * 1024;
const sizesMib = [16, 200, 1024];
const platformCallsPerSecond = 5;
const blockBytes = 4 * mebibyte;
const asLaunched = { asLaunched: true };

/**
 * A film from the vendor's host to the table over loopback: checked, hashed, synced, uploaded in parts. Beside it: `curl` to
 * a file and `curl` up, which check nothing and sync nothing; and the same with a sync. Both ends stand in another process.
 */
export async function benchTransfer({ runs = 5, say }) {
  const outside = await startOutside();
  const directory = temporaryDirectory();
  try {
    const rounds = [];
    for (let round = 1; round <= runs; round += 1) {
      say(`transfer: run ${round} of ${runs}`);
      rounds.push(await oneRound(outside.origin, directory.path, say));
    }
    return report(rounds, runs);
  } finally {
    directory.remove();
    outside.stop();
  }
}

async function oneRound(origin, directory, say) {
  const curl = await measureCurl(origin, directory);
  say(`  curl: ${JSON.stringify(curl)}`);
  const product = {};
  const input = { origin, callsPerSecond: 0 };
  for (const mib of sizesMib) {
    const [figures] = await measure(script('product'), { ...input, sizesBytes: [mib * mebibyte] }, asLaunched);
    product[`mb_per_s_${mib}`] = (mib * mebibyte) / 1e6 / (figures.down_s + figures.up_s);
    product[`down_mb_per_s_${mib}`] = (mib * mebibyte) / 1e6 / figures.down_s;
    product[`up_mb_per_s_${mib}`] = (mib * mebibyte) / 1e6 / figures.up_s;
    product[`down_cpu_s_per_gb_${mib}`] = figures.down_cpu_s / ((mib * mebibyte) / 1e9);
    product[`up_cpu_s_per_gb_${mib}`] = figures.up_cpu_s / ((mib * mebibyte) / 1e9);
    product[`rss_growth_mb_${mib}`] = figures.rss_growth_mb;
  }
  const sizeBytes = 200 * mebibyte;
  const [paced] = await measure(
    script('product'),
    {
      origin,
      callsPerSecond: platformCallsPerSecond,
      sizesBytes: [sizeBytes],
    },
    asLaunched,
  );
  product.paced_s = paced.down_s + paced.up_s;
  product.time_to_floor_ratio = product.paced_s / floorSeconds(sizeBytes, curl);
  product.rss_growth_mb = Math.max(paced.rss_growth_mb, ...sizesMib.map((mib) => product[`rss_growth_mb_${mib}`]));
  say(`  product: ${JSON.stringify(product)}`);
  return { product, curl };
}

/**
 * The least time with five parts a second: the file must first be here (curl's time), then the first five parts may leave
 * at once, and each further five a second later; the last of them takes its share of curl's time.
 */
function floorSeconds(sizeBytes, curl) {
  const parts = Math.ceil(sizeBytes / blockBytes);
  const seconds = Math.floor((parts - 1) / platformCallsPerSecond);
  const inLastSecond = parts - seconds * platformCallsPerSecond;
  return curl.down_s_200 + seconds + (inLastSecond / parts) * curl.up_s_200;
}

async function measureCurl(origin, directory) {
  const figures = {};
  for (const mib of sizesMib) {
    const file = join(directory, `${mib}.mp4`);
    const sizeBytes = mib * mebibyte;
    const down = await seconds(() => run('curl', ['-sSf', '-o', file, `${origin}/file/${sizeBytes}.mp4`]));
    const synced = await seconds(() => sync(file));
    const up = await seconds(() => run('curl', ['-sSf', '-o', '/dev/null', '-T', file, `${origin}/sink`]));
    await rm(file);
    figures[`down_s_${mib}`] = down;
    figures[`up_s_${mib}`] = up;
    figures[`mb_per_s_${mib}`] = sizeBytes / 1e6 / (down + up);
    figures[`mb_per_s_${mib}_synced`] = sizeBytes / 1e6 / (down + synced + up);
  }
  return figures;
}

async function sync(file) {
  const handle = await open(file, 'r+');
  await handle.sync();
  await handle.close();
}

async function seconds(work) {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1_000;
}

async function startOutside() {
  const child = fork(fileURLToPath(script('outside')), [], {
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
  });
  const { port } = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`the outside ended early (${code})`)));
  });
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

function report(rounds, runs) {
  const product = medians(rounds.map((one) => one.product));
  const curl = medians(rounds.map((one) => one.curl));
  const pick = (suffix) =>
    Object.fromEntries(sizesMib.map((mib) => [`mb_per_s_${mib}`, curl[`mb_per_s_${mib}${suffix}`]]));
  const limit = { ...pick(''), time_to_floor_ratio: 1, rss_growth_mb: 50 };
  const peers = { curl: pick(''), 'curl-and-sync': pick('_synced') };
  const ratios = {
    to_limit: round(Math.min(...sizesMib.map((mib) => product[`mb_per_s_${mib}`] / limit[`mb_per_s_${mib}`]))),
    ...Object.fromEntries(
      sizesMib.map((mib) => [`to_limit_${mib}`, ratio(product[`mb_per_s_${mib}`], curl[`mb_per_s_${mib}`])]),
    ),
    // Where they part: `curl` makes no checksum on its way up, and no hash and no sync on its way down.
    ...Object.fromEntries(
      sizesMib.map((mib) => [
        `down_to_limit_${mib}`,
        ratio(product[`down_mb_per_s_${mib}`], (mib * mebibyte) / 1e6 / curl[`down_s_${mib}`]),
      ]),
    ),
    ...Object.fromEntries(
      sizesMib.map((mib) => [
        `up_to_limit_${mib}`,
        ratio(product[`up_mb_per_s_${mib}`], (mib * mebibyte) / 1e6 / curl[`up_s_${mib}`]),
      ]),
    ),
    ...Object.fromEntries(
      sizesMib.map((mib) => [`to_synced_${mib}`, ratio(product[`mb_per_s_${mib}`], curl[`mb_per_s_${mib}_synced`])]),
    ),
  };
  const wanted = {
    to_limit: [ratios.to_limit, { atLeast: 0.8 }],
    time_to_floor_ratio: [product.time_to_floor_ratio, { atMost: 1.05 }],
    rss_growth_mb: [product.rss_growth_mb, { atMost: limit.rss_growth_mb }],
  };
  return { bench: 'transfer', runs, product, limit, peers, ratios, goals: goals(wanted) };
}
