import { createSeededRandom, type JsonObject, randomInt } from '../../../src/kernel/index.ts';

/** `metrics.json` of an installation at work. */
export function sampleMetrics(
  now: number,
  byAgent: JsonObject,
  counts: { readonly queued: number; readonly running: number; readonly held: number },
  isTrouble: boolean,
): JsonObject {
  const random = createSeededRandom(11);
  const day = (back: number): string => new Date(now + 8 * 3_600_000 - back * 86_400_000).toISOString().slice(0, 10);
  const days = Array.from({ length: 30 }, (_, index) => {
    const work = 40 + randomInt(random, 160);
    return {
      day: day(29 - index),
      cny_micros: work * 380_000,
      calls: work * 3,
      succeeded: work,
      partial: 2,
      failed: randomInt(random, 9),
      canceled: 1,
    };
  });
  const monthMicros = 1_834_250_000;
  return {
    updated_at: new Date(now).toISOString(),
    timezone: 'Asia/Shanghai',
    mode: 'live',
    paused: false,
    tick_interval_ms: 30_000,
    lag_ms: 2,
    workers: [{ id: 'studio-01', started_at: now - 5 * 86_400_000, last_tick_at: now - 9_000 }],
    executions: {
      ...counts,
      held: isTrouble ? counts.held : 0,
      by_agent: byAgent,
      waiting: counts.queued > 0 ? { 厂商并发已满: counts.queued } : {},
      today: { succeeded: 128, partial: 3, failed: isTrouble ? 14 : 2, canceled: 1, degraded: 4, switched: 6 },
    },
    vendors: sampleVendors(now, isTrouble),
    feishu: {
      plan: 'basic',
      calls_this_month: 18_420,
      monthly_budget: 50_000,
      forecast_calls: isTrouble ? 61_300 : 38_600,
      connected: true,
      last_event_at: now - 21_000,
    },
    money: {
      today: sums(62_480_000, 5_200_000, 391),
      month: {
        ...sums(monthMicros, 5_200_000, 9_420),
        by_agent: { 'try-on': 1_210_400_000, 'photo-studio': 402_100_000, deck: 120_050_000, content: 101_700_000 },
        by_vendor: { kie: 1_302_000_000, toapis: 401_250_000, 'llm-primary': 131_000_000 },
      },
    },
    days,
    people: [
      { agent: 'try-on', stage: 'look', approved: 412, rejected: 61, mean_wait_ms: 2_820_000 },
      { agent: 'try-on', stage: 'storyboard', approved: 398, rejected: 6, mean_wait_ms: 5_130_000 },
      { agent: 'deck', stage: 'outline', approved: 57, rejected: 12, mean_wait_ms: 940_000 },
    ],
    balances: sampleBalances(now, isTrouble),
    alerts: sampleAlerts(now, isTrouble),
    disk: { free_bytes: 48_200_000_000, min_free_bytes: 209_715_200 },
  };
}

function sums(micros: number, open: number, calls: number): JsonObject {
  return {
    cny_micros: micros,
    open_cny_micros: open,
    calls,
    estimated_calls: 12,
    unpriced_calls: 0,
    by_agent: {},
    by_vendor: {},
    totals_micros: { 'credit:kie': 36_676_000_000, 'credit:toapis': 11_302_000_000, CNY: 131_000_000 },
  };
}

function sampleVendors(now: number, isTrouble: boolean): JsonObject {
  const vendor = (calls: number, failed: number, p50: number, extra: JsonObject = {}): JsonObject => ({
    calls,
    retries: Math.round(calls / 20),
    succeeded: calls - failed,
    failed,
    errors: {},
    week: {
      calls: calls * 6,
      retries: 40,
      succeeded: calls * 6 - failed * 5,
      failed: failed * 5,
      errors: { overload: failed * 3, 'rate-limit': failed * 2 },
    },
    in_flight: Math.round(calls / 30),
    latency_ms: { p50, p95: p50 * 2.6, p99: p50 * 4, samples: 200 },
    unrecognised: 0,
    paused: null,
    ...extra,
  });
  return {
    kie: vendor(214, 7, 96_000),
    'llm-primary': vendor(131, 1, 5_400),
    toapis: vendor(
      46,
      isTrouble ? 19 : 2,
      71_000,
      isTrouble ? { paused: { since: now - 420_000, reason: 'balance' }, unrecognised: 2 } : {},
    ),
  };
}

function sampleBalances(now: number, isTrouble: boolean): JsonObject[] {
  const curve = (from: number, to: number): number[][] =>
    Array.from({ length: 96 }, (_, index) => [
      now - (95 - index) * 1_800_000,
      Math.round((from + ((to - from) * index) / 95 + Math.sin(index) * from * 0.004) * 1e6),
    ]);
  const balance = (
    provider: string,
    currency: string,
    from: number,
    left: number,
    line: number,
    calls: number,
  ): JsonObject => ({
    provider,
    currency,
    remaining_micros: left * 1e6,
    remaining: left,
    at: now - 60_000,
    usable: true,
    low: left < line,
    fault: '',
    threshold: { currency, micros: line * 1e6 },
    calls_left: calls,
    drift_micros: 0,
    curve: curve(from, left),
  });
  return [
    balance('kie', 'credit:kie', 21_000, 9_860, 2_000, 812),
    balance('toapis', 'credit:toapis', 4_000, isTrouble ? 81 : 1_640, 500, isTrouble ? 6 : 120),
  ];
}

function sampleAlerts(now: number, isTrouble: boolean): JsonObject {
  const alert = (back: number, severity: string, title: string, text: string, count = 1): JsonObject => ({
    at: now - back,
    title,
    text,
    severity,
    count,
    channels: { pushplus: 'sent', 'feishu-group': 'sent' },
  });
  const quiet = [
    alert(
      3 * 3_600_000,
      'info',
      '日报 2026-11-29',
      '任务：成功 143，部分 2，失败 3，取消 1；在办 12\n花费：当日 ¥71.20，本月 ¥1,771.77\n余额：kie 10240 积分，toapis 1702 积分',
    ),
    alert(
      9 * 3_600_000,
      'warning',
      '已切换厂商：kie/seedream-5 → toapis/gpt-image-2（又 5 次）',
      '节点 draw，原因：厂商繁忙。\n任务会继续，结果可能来自备用厂商；持续出现请检查 kie 的余额、密钥和服务状态。',
      5,
    ),
  ];
  const loud = [
    alert(
      420_000,
      'error',
      '厂商已暂停：toapis',
      '原因：厂商余额不足。新任务改走下一家候选。请充值；充值后会自动恢复。',
    ),
    alert(
      430_000,
      'warning',
      '余额不足：toapis',
      '剩余 81 积分（告警线 500 积分）。按近 7 天的平均单价大约还能做 6 次调用。请充值；用完后任务会改走下一家候选。',
      3,
    ),
  ];
  return {
    raised: isTrouble
      ? [
          { key: 'provider:toapis', title: '厂商已暂停：toapis', since: now - 420_000 },
          { key: 'balance:toapis', title: '余额不足：toapis', since: now - 430_000 },
        ]
      : [],
    recent: isTrouble ? [...loud, ...quiet] : quiet,
    channels: {
      pushplus: { configured: true, sentToday: 7, limitPerDay: 200, stopped: false },
      'feishu-group': { configured: true },
    },
  };
}
