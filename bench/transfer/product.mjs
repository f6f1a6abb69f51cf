import { join } from 'node:path';
import { createUploadSessions } from '../../src/app/upload-sessions.ts';
import { createYoungGarbageCollector } from '../../src/app/young-garbage.ts';
import { createFeishuClient } from '../../src/feishu/index.ts';
import { createIdSource, createSystemClock, createSystemRandom, Secret, silentLogger } from '../../src/kernel/index.ts';
import { createCollector, createDiskSpool } from '../../src/media/index.ts';
import { createLiveFetch } from '../../src/providers/http/index.ts';
import { createSqliteStore } from '../../src/store/index.ts';
import { serve } from '../lib/child.mjs';
import { shippedSettings, temporaryDirectory } from '../lib/world.mjs';

/** One file from the vendor's host into the spool (checked, hashed, synced), then up into the base. */
serve(async ({ origin, sizesBytes, callsPerSecond }) => {
  const directory = temporaryDirectory();
  const rooms = openRooms(origin, directory.path, callsPerSecond);
  try {
    // The first transfer pays for what is loaded late; a worker has long had it.
    await transfer(rooms, origin, 1024 * 1024);
    global.gc?.();
    const figures = [];
    for (const sizeBytes of sizesBytes) figures.push(await watchMemory(() => transfer(rooms, origin, sizeBytes)));
    return figures;
  } finally {
    await rooms.fetch.close();
    await rooms.store.close();
    directory.remove();
  }
});

function openRooms(origin, directory, callsPerSecond) {
  const settings = shippedSettings();
  const clock = createSystemClock();
  const random = createSystemRandom();
  const ids = createIdSource(clock, random);
  const logger = silentLogger;
  const fetch = createLiveFetch({ allowHosts: ['127.0.0.1'] });
  const store = createSqliteStore({ path: join(directory, 'bench.db'), clock, logger });
  const spool = createDiskSpool({ directory: join(directory, 'spool'), ids, letGo: createYoungGarbageCollector() });
  const { transfer, timeouts, feishu } = settings;
  return {
    fetch,
    store,
    spool,
    collector: createCollector({
      fetch,
      spool,
      clock,
      logger,
      settings: {
        attempts: 1,
        delayMs: transfer.delay,
        idleMs: timeouts.transfer_idle,
        connectMs: timeouts.connect,
        maxBytes: transfer.max_bytes,
      },
    }),
    client: createFeishuClient({
      appId: 'cli_0123456789abcdef',
      appSecret: new Secret('bench-secret'),
      baseUrl: origin,
      fetch,
      clock,
      ids,
      random,
      logger,
      uploadSessions: createUploadSessions(store, clock),
      settings: { timeouts, feishu: { ...feishu, media_calls_per_second: callsPerSecond } },
    }),
  };
}

async function transfer({ spool, collector, client }, origin, sizeBytes) {
  const url = `${origin}/file/${sizeBytes}.mp4`;
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  const collected = await collector.collect(
    { kind: 'remote', media: 'video', url },
    'film',
    new AbortController().signal,
  );
  if (!collected.ok) throw new Error(`not collected: ${collected.failure.code} ${collected.failure.message}`);
  const artifact = collected.value;
  const collectedMs = performance.now();
  const collectedCpu = process.cpuUsage();
  const open = (offset, length, memory) => spool.open(artifact, offset, length, memory);
  const source = { name: 'film.mp4', sizeBytes, open, resumeKey: artifact.hash };
  const uploaded = await client.uploadMedia('basbench', source);
  if (!uploaded.ok) throw new Error(`not uploaded: ${uploaded.failure.code} ${uploaded.failure.message}`);
  const endedMs = performance.now();
  const endedCpu = process.cpuUsage();
  await spool.remove(artifact.hash);
  return {
    down_s: (collectedMs - startedMs) / 1_000,
    up_s: (endedMs - collectedMs) / 1_000,
    down_cpu_s: spent(startedCpu, collectedCpu),
    up_cpu_s: spent(collectedCpu, endedCpu),
  };
}

function spent(before, after) {
  return (after.user + after.system - before.user - before.system) / 1e6;
}

async function watchMemory(work) {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  const figures = await work();
  clearInterval(timer);
  return { ...figures, rss_growth_mb: (most - before) / 1e6 };
}
