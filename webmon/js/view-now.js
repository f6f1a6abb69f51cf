import { h } from './dom.js';
import { badge, bar, card, empty, nodeName, sign, sparkline, table, tile } from './parts.js';
import { silentAfterMs, sinceTick } from './verdict.js';

const shownRunning = 8;

/** Five seconds: the verdict above (made by main), then the numbers, then who waits for what. */
export function viewNow(page) {
  const { metrics } = page.data;
  return h(
    'div',
    { class: 'stack' },
    tiles(page),
    h(
      'div',
      { class: 'columns' },
      h('div', { class: 'stack' }, running(page), agents(page)),
      h(
        'div',
        { class: 'stack' },
        vendors(page),
        metrics.alerts.recent.length > 0 ? alerts(page) : null,
        workers(page),
      ),
    ),
  );
}

function tiles({ data: { metrics }, t, format }) {
  const { executions, money, days } = metrics;
  const { today } = executions;
  const done = [
    today.partial > 0 ? t('partialToday', { n: today.partial }) : '',
    today.degraded > 0 ? t('degradedToday', { n: today.degraded }) : '',
  ];
  const failed = [
    today.switched > 0 ? t('switchedToday', { n: today.switched }) : '',
    today.canceled > 0 ? t('canceledToday', { n: today.canceled }) : '',
  ];
  const join = (parts) => parts.filter((part) => part !== '').join(' · ');
  const spent = tile(
    t('spentToday'),
    format.yuan(money.today.cny_micros),
    money.today.open_cny_micros > 0 ? t('open', { sum: format.yuan(money.today.open_cny_micros) }) : '',
  );
  const month = tile(t('spentMonth'), format.yuan(money.month.cny_micros), '', 'wide');
  month.append(
    sparkline(
      days.map((day) => day.cny_micros),
      t('perDay'),
    ),
  );
  return h(
    'dl',
    { class: 'tiles' },
    tile(t('running'), format.count(executions.running), '', executions.running > 0 ? 'busy' : ''),
    tile(t('queued'), format.count(executions.queued)),
    tile(t('heldShort'), format.count(executions.held), '', executions.held > 0 ? 'warn' : ''),
    tile(t('doneToday'), format.count(today.succeeded + today.partial), join(done), 'good'),
    tile(t('failedToday'), format.count(today.failed), join(failed), today.failed > 0 ? 'bad' : ''),
    spent,
    month,
  );
}

function running({ data, t, format, now }) {
  const open = (data.list ?? []).filter((line) => line.ended_at === null);
  const longest = open.toSorted((left, right) => left.since - right.since).slice(0, shownRunning);
  const waiting = Object.entries(data.metrics.executions.waiting);
  const columns = [
    {
      name: t('agent'),
      cell: (line) => [
        h('a', { href: `#/execution/${line.id}` }, line.agent || line.workflow),
        h('small', {}, line.stage),
      ],
    },
    { name: t('status'), cell: (line) => badge(line.status, t) },
    { name: t('node'), cell: (line) => nodeName(line) },
    { name: t('vendor'), cell: (line) => [line.vendor || '–', line.model ? h('small', {}, line.model) : null] },
    { name: t('since'), isNumber: true, cell: (line) => format.duration(now - line.since) },
  ];
  const more = h(
    'a',
    { class: 'more', href: '#/executions?status=open' },
    `${t('viewAll')} (${format.count(open.length)})`,
  );
  return card(
    t('longest'),
    { extra: open.length > 0 ? more : null },
    open.length === 0
      ? empty(t('nothingRunning'), t('nothingRunningText'))
      : table(t('longest'), columns, longest, (line) => ({ 'data-key': line.id })),
    waiting.length === 0
      ? null
      : h(
          'p',
          { class: 'chips' },
          `${t('waitingFor')}：`,
          waiting.map(([reason, count]) => h('span', { class: 'chip' }, `${reason} ×${format.count(count)}`)),
        ),
  );
}

function agents({ data: { metrics }, t, format }) {
  const rows = Object.entries(metrics.executions.by_agent).sort(
    ([, left], [, right]) => right.running + right.queued - left.running - left.queued,
  );
  if (rows.length === 0) return null;
  return card(
    t('byAgent'),
    {},
    h(
      'ul',
      { class: 'bars' },
      rows.map(([name, counts]) => {
        const parts = [
          { value: counts.running, tone: 'busy', name: t('running') },
          { value: counts.queued, tone: 'idle', name: t('queued') },
          { value: counts.held, tone: 'warn', name: t('heldShort') },
        ];
        const words = parts.filter((part) => part.value > 0).map((part) => `${part.name} ${format.count(part.value)}`);
        return h(
          'li',
          { 'data-key': name },
          h('a', { href: `#/executions?agent=${encodeURIComponent(name)}` }, name),
          bar(parts, words.join('，')),
          h('span', { class: 'number' }, words.join(' · ')),
        );
      }),
    ),
  );
}

function vendors({ data: { metrics }, t, format }) {
  const rows = Object.entries(metrics.vendors);
  return card(
    t('vendors'),
    { extra: h('a', { class: 'more', href: '#/vendors' }, t('viewAll')) },
    rows.length === 0
      ? h('p', { class: 'quiet' }, t('noVendors'))
      : h(
          'ul',
          { class: 'lines' },
          rows.map(([name, vendor]) => {
            const ended = vendor.succeeded + vendor.failed;
            const isPoor = ended >= 5 && vendor.failed / ended > 0.2;
            const balance = metrics.balances.find((entry) => entry.provider === name);
            return h(
              'li',
              { 'data-key': name },
              sign(vendor.paused !== null ? 'bad' : isPoor ? 'warn' : 'good'),
              h('b', {}, name),
              h(
                'span',
                {},
                vendor.paused === null ? `${t('success')} ${format.percent(vendor.succeeded, ended)}` : t('paused'),
                ` · ${format.duration(vendor.latency_ms.p50)}`,
              ),
              balance === undefined
                ? h('span', { class: 'number' }, '')
                : h(
                    'span',
                    { class: `number ${balance.low ? 'warn' : ''}` },
                    format.sum(balance.remaining_micros, balance.currency),
                  ),
            );
          }),
        ),
  );
}

function alerts({ data: { metrics }, t, format }) {
  return card(
    t('recentAlerts'),
    { extra: h('a', { class: 'more', href: '#/alerts' }, t('viewAll')) },
    h(
      'ul',
      { class: 'lines' },
      metrics.alerts.recent
        .slice(0, 4)
        .map((alert) =>
          h(
            'li',
            { 'data-key': `${alert.at}-${alert.title}` },
            sign({ fatal: 'bad', error: 'bad', warning: 'warn', info: 'good' }[alert.severity]),
            h('span', { class: 'clip' }, alert.title),
            h('time', { class: 'number' }, format.clock(alert.at)),
          ),
        ),
    ),
  );
}

function workers({ data: { metrics }, t, format, now }) {
  return card(
    t('workers'),
    {},
    h(
      'ul',
      { class: 'lines' },
      metrics.workers.map((worker) => {
        const isLate = sinceTick({ workers: [worker] }, now) > silentAfterMs(metrics);
        const tick = worker.last_tick_at === null ? t('never') : format.duration(now - worker.last_tick_at);
        return h(
          'li',
          { 'data-key': worker.id },
          sign(isLate ? 'bad' : 'good'),
          h('code', { class: 'clip' }, worker.id),
          h('span', {}, t('lastTick', { age: tick })),
          h('span', { class: 'number' }, t('startedAt', { when: format.full(worker.started_at) })),
        );
      }),
    ),
  );
}
