import { h } from './dom.js';
import { badge, card, empty, sign, table, tile } from './parts.js';

export function viewVendors({ data: { metrics }, t, format }) {
  const rows = Object.entries(metrics.vendors).map(([name, vendor]) => ({ name, ...vendor }));
  if (rows.length === 0) return card(t('vendors'), {}, empty(t('noVendors')));
  const columns = [
    {
      name: t('vendor'),
      cell: (row) => [
        h('b', {}, row.name),
        row.unrecognised > 0 ? h('small', {}, t('unrecognised', { n: row.unrecognised })) : null,
      ],
    },
    {
      name: t('status'),
      cell: (row) =>
        row.paused === null
          ? h('span', { class: 'badge good' }, sign('good'), t('ok'))
          : [
              h('span', { class: 'badge bad' }, sign('bad'), t('paused')),
              h(
                'small',
                {},
                `${t(`kind.${row.paused.reason}`)} · ${t('pausedSince', { when: format.full(row.paused.since) })}`,
              ),
            ],
    },
    { name: t('inFlight'), isNumber: true, cell: (row) => format.count(row.in_flight) },
    { name: t('callsToday'), isNumber: true, cell: (row) => format.count(row.calls) },
    {
      name: t('success'),
      isNumber: true,
      cell: (row) => [
        format.percent(row.succeeded, row.succeeded + row.failed),
        h('small', {}, `${t('week')} ${format.percent(row.week.succeeded, row.week.succeeded + row.week.failed)}`),
      ],
    },
    { name: t('retries'), isNumber: true, cell: (row) => format.count(row.retries) },
    {
      name: t('latency'),
      isNumber: true,
      cell: (row) => `${format.duration(row.latency_ms.p50)} / ${format.duration(row.latency_ms.p95)}`,
    },
    { name: t('errors'), cell: (row) => errors(row.week.errors, t, format) },
  ];
  return card(
    t('vendors'),
    {},
    table(t('vendors'), columns, rows, (row) => ({ 'data-key': row.name })),
  );
}

function errors(counts, t, format) {
  const kinds = Object.entries(counts).sort(([, left], [, right]) => right - left);
  if (kinds.length === 0) return '–';
  return h(
    'span',
    { class: 'chips' },
    kinds
      .slice(0, 6)
      .map(([kind, times]) => h('span', { class: 'chip' }, `${t(`kind.${kind}`)} ×${format.count(times)}`)),
  );
}

export function viewPeople({ data: { metrics }, t, format }) {
  if (metrics.people.length === 0) return card(t('people'), {}, empty(t('noPeople'), t('peopleText')));
  const columns = [
    { name: t('agent'), cell: (row) => h('b', {}, row.agent) },
    { name: t('stage'), cell: (row) => row.stage },
    { name: t('approved'), isNumber: true, cell: (row) => format.count(row.approved) },
    { name: t('rejected'), isNumber: true, cell: (row) => format.count(row.rejected) },
    {
      name: t('approveRate'),
      isNumber: true,
      cell: (row) => format.percent(row.approved, row.approved + row.rejected),
    },
    { name: t('meanWait'), isNumber: true, cell: (row) => format.duration(row.mean_wait_ms) },
  ];
  return card(
    t('people'),
    {},
    h('p', { class: 'quiet' }, t('peopleText')),
    table(t('people'), columns, metrics.people, (row) => ({ 'data-key': `${row.agent}/${row.stage}` })),
  );
}

export function viewFeishu({ data: { metrics }, t, format, now }) {
  const { feishu } = metrics;
  if (feishu === null) return card(t('feishu'), {}, empty(t('noFeishu')));
  const isPaid = feishu.plan === 'paid';
  const share = isPaid ? 0 : feishu.calls_this_month / feishu.monthly_budget;
  const ahead = isPaid ? 0 : feishu.forecast_calls / feishu.monthly_budget;
  const tone = ahead > 1 ? 'warn' : 'good';
  return h(
    'div',
    { class: 'stack' },
    h(
      'dl',
      { class: 'tiles' },
      tile(t('callsMonth'), format.count(feishu.calls_this_month)),
      tile(t('budget'), isPaid ? t('unlimited') : format.count(feishu.monthly_budget), t(`plan.${feishu.plan}`)),
      tile(t('forecast'), format.count(feishu.forecast_calls), '', isPaid ? '' : tone),
      tile(
        t('connection'),
        feishu.connected ? t('connected') : t('disconnected'),
        `${t('lastEvent')} ${feishu.last_event_at === null ? t('never') : format.duration(now - feishu.last_event_at)}`,
        feishu.connected ? 'good' : 'warn',
      ),
    ),
    isPaid
      ? null
      : card(
          t('budget'),
          {},
          h(
            'div',
            {
              class: 'gauge',
              role: 'img',
              'aria-label': `${format.percent(feishu.calls_this_month, feishu.monthly_budget)}`,
            },
            h('i', { class: `ahead ${tone}`, style: { width: `${Math.min(100, ahead * 100)}%` } }),
            h('i', { class: 'now', style: { width: `${Math.min(100, share * 100)}%` } }),
          ),
          h(
            'p',
            { class: 'quiet' },
            `${format.percent(feishu.calls_this_month, feishu.monthly_budget)} · ${t('forecast')} ${format.percent(feishu.forecast_calls, feishu.monthly_budget)}`,
          ),
        ),
  );
}

export function viewAlerts({ data: { metrics }, t, format }) {
  const { raised, recent, channels } = metrics.alerts;
  return h(
    'div',
    { class: 'stack' },
    raised.length === 0
      ? null
      : card(
          t('raisedNow'),
          {},
          h(
            'ul',
            { class: 'lines' },
            raised.map((entry) =>
              h(
                'li',
                { 'data-key': entry.key },
                sign('warn'),
                h('b', {}, entry.title),
                h('span', { class: 'number' }, t('raisedText', { when: format.full(entry.since) })),
              ),
            ),
          ),
        ),
    card(
      t('recent'),
      {},
      recent.length === 0
        ? empty(t('noAlerts'), t('noAlertsText'))
        : h(
            'ol',
            { class: 'feed' },
            recent.map((alert) => feedItem(alert, t, format)),
          ),
    ),
    channelsCard(channels, t),
  );
}

function feedItem(alert, t, format) {
  return h(
    'li',
    { 'data-key': `${alert.at}-${alert.title}` },
    h(
      'header',
      {},
      badge(alert.severity, t, 'severity'),
      h('b', {}, alert.title),
      alert.count > 1 ? h('span', { class: 'chip' }, t('times', { n: alert.count })) : null,
      h('time', {}, format.full(alert.at)),
    ),
    h('p', { class: 'lines-kept' }, alert.text),
    h(
      'p',
      { class: 'chips' },
      Object.entries(alert.channels).map(([name, state]) => {
        const [word, ...why] = state.split(': ');
        const tone = { sent: 'good', failed: 'bad', pending: 'warn' }[word] ?? '';
        return h(
          'span',
          { class: `chip ${tone}`, title: why.join(': ') },
          `${t(`channel.${name}`)} ${t(word)}${why.length > 0 ? ` (${why.join(': ')})` : ''}`,
        );
      }),
    ),
  );
}

function channelsCard(channels, t) {
  const names = Object.entries(channels);
  return card(
    t('channels'),
    {},
    names.length === 0
      ? h('p', { class: 'quiet' }, t('noChannels'))
      : h(
          'ul',
          { class: 'lines' },
          names.map(([name, status]) =>
            h(
              'li',
              { 'data-key': name },
              sign(status.configured === false ? 'idle' : status.stopped === true ? 'bad' : 'good'),
              h('b', {}, t(`channel.${name}`)),
              h(
                'span',
                { class: 'number' },
                status.configured === false
                  ? t('off')
                  : status.limitPerDay === undefined
                    ? ''
                    : t('sentToday', { n: status.sentToday, max: status.limitPerDay }),
              ),
            ),
          ),
        ),
  );
}
