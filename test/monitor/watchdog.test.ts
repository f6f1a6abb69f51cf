import { describe, expect, it } from 'vitest';
import { type AlertInput, createHeartbeat, createRestartWatch, createWatchdog } from '../../src/monitor/index.ts';
import { createKit, type Kit } from './kit.ts';

function recorder() {
  const alerts: AlertInput[] = [];
  const recoveries: string[] = [];
  return {
    alerts,
    recoveries,
    alert: (input: AlertInput): Promise<void> => {
      alerts.push(input);
      return Promise.resolve();
    },
    recover: (end: { key: string; title: string }): Promise<void> => {
      recoveries.push(end.title);
      return Promise.resolve();
    },
  };
}

describe('watchdog', () => {
  const setUp = (kit: Kit, alerter = recorder()) => {
    let deaths = 0;
    const watchdog = createWatchdog({ ...kit, alerter, intervalMs: 30_000, onDead: () => (deaths += 1) });
    watchdog.start();
    return { watchdog, alerter, deaths: () => deaths };
  };

  it('alerts and ends the process once when no tick has finished in three intervals', async () => {
    const kit = createKit();
    const { alerter, deaths } = setUp(kit);
    await kit.clock.advance(89_000);
    expect(deaths()).toBe(0);
    await kit.clock.advance(300_000);
    expect(deaths()).toBe(1);
    expect(alerter.alerts).toMatchObject([{ severity: 'fatal', title: '主循环停摆，正在重启' }]);
  });

  it('lets a loop that ticks live', async () => {
    const kit = createKit();
    const { watchdog, deaths } = setUp(kit);
    for (let tick = 0; tick < 100; tick += 1) {
      await kit.clock.advance(30_000);
      watchdog.tickFinished();
    }
    expect(deaths()).toBe(0);
  });

  it('ends the process even when the alert never returns', async () => {
    const kit = createKit();
    const stuck = { ...recorder(), alert: () => new Promise<void>(() => undefined) };
    let deaths = 0;
    createWatchdog({ ...kit, alerter: stuck, intervalMs: 30_000, onDead: () => (deaths += 1) }).start();
    await kit.clock.advance(200_000);
    expect(deaths).toBe(1);
  });

  it('is not set off by a jump of the wall clock', async () => {
    const kit = createKit();
    const { watchdog, deaths } = setUp(kit);
    await kit.clock.advance(20_000);
    watchdog.tickFinished();
    kit.clock.jumpWall(24 * 3_600_000);
    await kit.clock.advance(20_000);
    expect(deaths()).toBe(0);
  });
});

describe('heartbeat', () => {
  it('calls while the loop lives, stays silent when it does not, and survives a dead receiver', async () => {
    const kit = createKit();
    let calls = 0;
    let alive = true;
    const heartbeat = createHeartbeat({
      ...kit,
      url: 'http://beat.local/abc',
      intervalMs: 60_000,
      isAlive: () => alive,
      fetch: () => {
        calls += 1;
        return calls === 2 ? Promise.reject(new Error('down')) : Promise.resolve(new Response('ok'));
      },
    });
    heartbeat.start();
    await kit.clock.advance(180_000);
    expect(calls).toBe(3);
    alive = false;
    await kit.clock.advance(600_000);
    expect(calls).toBe(3);
    heartbeat.stop();
  });
});

describe('restart watch', () => {
  it('P169 turns ten restarts in five minutes into one alert that counts them, and one recovery', async () => {
    const kit = createKit();
    const alerter = recorder();
    let watch = createRestartWatch({ ...kit, alerter });
    await watch.noteStart();
    for (let restart = 0; restart < 10; restart += 1) {
      await kit.clock.advance(30_000);
      watch.stop();
      watch = createRestartWatch({ ...kit, alerter });
      await watch.noteStart();
    }
    expect(alerter.alerts).toHaveLength(1);
    expect(alerter.alerts[0]?.text).toContain('重启 10 次');
    await kit.clock.advance(3_600_000);
    expect(alerter.recoveries).toEqual(['进程已恢复稳定']);
  });

  it('counts for each of several workers on one store its own starts', async () => {
    const kit = createKit();
    const alerter = recorder();
    const steady = createRestartWatch({ ...kit, alerter, worker: 'a steady one' });
    await steady.noteStart();
    for (let start = 0; start < 11; start += 1) {
      await kit.clock.advance(90_000);
      const watch = createRestartWatch({ ...kit, alerter, worker: 'left' });
      await watch.noteStart();
      watch.stop();
      const stopped = createRestartWatch({ ...kit, alerter, worker: 'right' });
      await stopped.noteStart();
      await stopped.noteCleanStop();
    }
    expect(alerter.alerts.map(({ text }) => text)).toEqual([expect.stringContaining('重启 10 次（left）')]);
  });

  it('does not count restarts that follow a clean stop', async () => {
    const kit = createKit();
    const alerter = recorder();
    for (let start = 0; start < 30; start += 1) {
      const watch = createRestartWatch({ ...kit, alerter });
      await watch.noteStart();
      await kit.clock.advance(5_000);
      await watch.noteCleanStop();
    }
    expect(alerter.alerts).toHaveLength(0);
  });
});
