import { staleAfterMs } from './data.js';

/**
 * What an operator must know, worst first: `{level: 'bad' | 'warn', title, text, to}`. Empty means that all is well. A dead
 * worker or an old file goes before everything, since then nothing else on the page can be believed.
 */
export function judge({ metrics, ageMs, fault, t, format, now }) {
  if (metrics === undefined) {
    return fault === '' ? [] : [{ level: 'bad', title: t('noData'), text: t('noDataText'), isStale: true }];
  }
  const items = [];
  if (ageMs > staleAfterMs) {
    const title = t('stale', { age: format.duration(ageMs) });
    return [{ level: 'bad', title, text: t('staleText'), isStale: true }];
  }
  const silentMs = sinceTick(metrics, now);
  if (silentMs > silentAfterMs(metrics))
    items.push({ level: 'bad', title: t('noTick'), text: t('noTickText', { age: format.duration(silentMs) }) });
  if (metrics.paused) items.push({ level: 'warn', title: t('pausedAll'), text: t('pausedAllText') });
  if (metrics.disk !== null && metrics.disk.free_bytes < metrics.disk.min_free_bytes * 2) {
    const values = { free: format.bytes(metrics.disk.free_bytes), min: format.bytes(metrics.disk.min_free_bytes) };
    items.push({ level: 'bad', title: t('diskLow'), text: t('diskLowText', values) });
  }
  const { held } = metrics.executions;
  if (held > 0)
    items.push({ level: 'warn', title: t('held', { n: held }), text: t('heldText'), to: '#/executions?status=held' });
  items.push(...vendorItems(metrics, t), ...balanceItems(metrics, t, format), ...feishuItems(metrics, t, format));
  items.push(...raisedItems(metrics, items, t, format));
  return items.sort((left, right) => (left.level === right.level ? 0 : left.level === 'bad' ? -1 : 1));
}

/** A loop that has not gone through for so long hangs: three intervals, and no less than a stale file. */
export const silentAfterMs = (metrics) => Math.max(3 * metrics.tick_interval_ms, staleAfterMs);

/** Time since the liveliest worker's main loop last went through; a start counts until the first time. */
export function sinceTick(metrics, now) {
  const times = metrics.workers.map((worker) => worker.last_tick_at ?? worker.started_at);
  return times.length === 0 ? Infinity : now - Math.max(...times);
}

function vendorItems(metrics, t) {
  return Object.entries(metrics.vendors)
    .filter(([, vendor]) => vendor.paused !== null)
    .map(([name, vendor]) => ({
      level: 'warn',
      title: t('vendorPaused', { name }),
      text: t('vendorPausedText', { why: t(`kind.${vendor.paused.reason}`) }),
      to: '#/vendors',
      key: `provider:${name}`,
    }));
}

function balanceItems(metrics, t, format) {
  return metrics.balances
    .filter((balance) => balance.low)
    .map((balance) => ({
      level: balance.calls_left === 0 || !balance.usable ? 'bad' : 'warn',
      title: t('lowBalance', { name: balance.provider }),
      text: t('lowBalanceText', {
        left: format.sum(balance.remaining_micros, balance.currency),
        calls: balance.calls_left === null ? '' : t('callsLeft', { n: format.count(balance.calls_left) }),
      }),
      to: '#/money',
      key: `balance:${balance.provider}`,
    }));
}

function feishuItems(metrics, t, format) {
  const { feishu } = metrics;
  if (feishu === null) return [];
  const items = [];
  if (feishu.plan !== 'paid' && feishu.forecast_calls > feishu.monthly_budget) {
    const values = { forecast: format.count(feishu.forecast_calls), budget: format.count(feishu.monthly_budget) };
    items.push({ level: 'warn', title: t('feishuBudget'), text: t('feishuBudgetText', values), to: '#/feishu' });
  }
  return items;
}

/** Raised conditions that the page has no words of its own for. */
function raisedItems(metrics, items, t, format) {
  const told = new Set(items.map((item) => item.key));
  return metrics.alerts.raised
    .filter((entry) => !told.has(entry.key))
    .map((entry) => ({
      level: 'warn',
      title: entry.title,
      text: t('raisedText', { when: format.full(entry.since) }),
      to: '#/alerts',
    }));
}
