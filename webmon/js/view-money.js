import { draw } from './chart.js';
import { h } from './dom.js';
import { bar, card, empty, table, tile } from './parts.js';

export function viewMoney(page) {
  const {
    data: { metrics },
    t,
  } = page;
  const { month } = metrics.money;
  const hasSpent = month.calls > 0 || metrics.days.some((day) => day.calls > 0);
  return h(
    'div',
    { class: 'stack' },
    tiles(page),
    card(t('perDay'), {}, hasSpent ? perDay(page) : empty(t('noMoney'))),
    h(
      'div',
      { class: 'columns even' },
      card(t('byAgent'), {}, shares(page, month.by_agent)),
      card(t('byVendor'), {}, shares(page, month.by_vendor)),
    ),
    submitters(page),
    balances(page),
  );
}

function tiles({ data: { metrics }, t, format }) {
  const { today, month } = metrics.money;
  const note = (sums) =>
    [
      sums.open_cny_micros > 0 ? t('open', { sum: format.yuan(sums.open_cny_micros) }) : '',
      sums.estimated_calls > 0 ? t('estimated', { n: format.count(sums.estimated_calls) }) : '',
      sums.unpriced_calls > 0 ? t('unpriced', { n: format.count(sums.unpriced_calls) }) : '',
    ]
      .filter((part) => part !== '')
      .join(' · ');
  const totals = Object.entries(month.totals_micros)
    .filter(([, micros]) => micros !== 0)
    .map(([currency, micros]) => tile(currency, format.sum(micros, currency)));
  return h(
    'dl',
    { class: 'tiles' },
    tile(t('spentToday'), format.yuan(today.cny_micros), note(today)),
    tile(t('spentMonth'), format.yuan(month.cny_micros), note(month)),
    totals,
  );
}

function perDay({ data: { metrics }, t, format }) {
  const { days } = metrics;
  return h(
    'div',
    {},
    h('div', { class: 'chart', 'data-keep': 'spend', 'aria-hidden': 'true' }),
    h(
      'details',
      {},
      h('summary', {}, t('asTable')),
      table(
        t('perDay'),
        [
          { name: t('day'), cell: (day) => day.day },
          { name: t('cost'), isNumber: true, cell: (day) => format.yuan(day.cny_micros) },
          { name: t('calls'), isNumber: true, cell: (day) => format.count(day.calls) },
        ],
        days.toReversed(),
      ),
    ),
  );
}

function shares({ t, format }, sums) {
  const rows = Object.entries(sums).sort(([, left], [, right]) => right - left);
  const most = rows[0]?.[1] ?? 0;
  if (rows.length === 0) return h('p', { class: 'quiet' }, t('noMoney'));
  return h(
    'ul',
    { class: 'bars' },
    rows.map(([name, micros]) =>
      h(
        'li',
        { 'data-key': name },
        h('span', {}, name),
        bar(
          [
            { value: micros, tone: 'busy', name },
            { value: Math.max(0, most - micros), tone: 'none', name: '' },
          ],
          `${name} ${format.yuan(micros)}`,
        ),
        h('span', { class: 'number' }, format.yuan(micros)),
      ),
    ),
  );
}

/** Names of staff are no part of the files; the local server adds them. */
function submitters(page) {
  const rows = page.data.submitters;
  if (!page.isServed || rows === undefined) return null;
  return card(page.t('bySubmitter'), {}, shares(page, rows));
}

function balances({ data: { metrics }, t, format }) {
  if (metrics.balances.length === 0) return card(t('balances'), {}, empty(t('noBalances')));
  return card(
    t('balances'),
    {},
    h(
      'div',
      { class: 'balances' },
      metrics.balances.map((balance) =>
        h(
          'article',
          { 'data-key': balance.provider },
          h(
            'h3',
            {},
            balance.provider,
            h(
              'span',
              { class: `number ${balance.low ? 'warn' : ''}` },
              format.sum(balance.remaining_micros, balance.currency),
            ),
          ),
          h('div', { class: 'chart', 'data-keep': `balance-${balance.provider}`, 'aria-hidden': 'true' }),
          h(
            'p',
            { class: 'quiet' },
            [
              balance.threshold === null
                ? ''
                : `${t('threshold')} ${format.sum(balance.threshold.micros, balance.threshold.currency)}`,
              balance.calls_left === null
                ? ''
                : t('callsLeft', { n: format.count(balance.calls_left) }).replace(/^[，, ]+/, ''),
              balance.drift_micros === 0 ? '' : t('drift', { sum: format.sum(balance.drift_micros, balance.currency) }),
              balance.fault === '' ? '' : t(`kind.${balance.fault}`),
            ]
              .filter((part) => part !== '')
              .join(' · '),
          ),
        ),
      ),
    ),
  );
}

/** Called after the view stands in the page. */
export function drawMoney({ data: { metrics }, format, look }) {
  const { days } = metrics;
  void draw('spend', {
    look,
    height: 220,
    padX: 0.6,
    isTime: false,
    x: days.map((_, index) => index),
    series: [{ name: 'CNY', values: days.map((entry) => entry.cny_micros / 1e6), tone: 'accent', kind: 'bars' }],
    lines: [],
    formatX: (index) => (Number.isInteger(index) ? (days[index]?.day.slice(5).replace('-', '/') ?? '') : ''),
    formatY: (value) => `¥${value}`,
  });
  for (const balance of metrics.balances) {
    const isSameUnit = balance.threshold !== null && balance.threshold.currency === balance.currency;
    void draw(`balance-${balance.provider}`, {
      look,
      height: 140,
      isTime: true,
      x: balance.curve.map(([at]) => at / 1000),
      series: [
        {
          name: balance.provider,
          values: balance.curve.map(([, micros]) => micros / 1e6),
          tone: 'accent',
          kind: 'line',
        },
      ],
      lines: isSameUnit ? [{ value: balance.threshold.micros / 1e6, tone: 'bad', name: 'threshold' }] : [],
      formatX: (second) => format.dayAndClock(second * 1000),
      formatY: (value) => String(value),
    });
  }
}
