import { h } from './dom.js';
import { badge, card, empty, nodeName, table } from './parts.js';

const perPage = 50;

/** All executions of the list: filters, search and pages live in the address, so that a link shows the same. */
export function viewExecutions(page) {
  const { data, t, format, route } = page;
  const filter = readFilter(route.query);
  const lines = (data.list ?? []).filter((line) => fits(line, filter));
  const last = Math.max(0, Math.ceil(lines.length / perPage) - 1);
  const number = Math.min(filter.page, last);
  const shown = lines.slice(number * perPage, (number + 1) * perPage);
  return card(
    t('executions'),
    {},
    filters(page, filter),
    data.list === undefined
      ? h('p', { class: 'quiet' }, t('loading'))
      : shown.length === 0
        ? empty(t('none'))
        : table(t('executions'), columns(page), shown, (line) => ({ 'data-key': line.id })),
    lines.length > perPage
      ? h(
          'nav',
          { class: 'pager', 'aria-label': t('page', { a: '', b: '', n: lines.length }) },
          pageLink(t('prev'), filter, number - 1, number > 0),
          h(
            'span',
            {},
            t('page', { a: number * perPage + 1, b: number * perPage + shown.length, n: format.count(lines.length) }),
          ),
          pageLink(t('next'), filter, number + 1, number < last),
        )
      : null,
  );
}

function columns({ t, format, now }) {
  return [
    {
      name: t('status'),
      cell: (line) => [badge(line.status, t), line.degraded ? h('span', { class: 'chip warn' }, t('degraded')) : null],
    },
    {
      name: t('agent'),
      cell: (line) => [
        h('a', { href: `#/execution/${line.id}` }, line.agent || line.workflow),
        h('small', {}, line.stage || line.workflow),
      ],
    },
    {
      name: t('node'),
      cell: (line) => (line.failure_kind ? t(`kind.${line.failure_kind}`) : nodeName(line)),
    },
    { name: t('vendor'), cell: (line) => [line.vendor || '–', line.model ? h('small', {}, line.model) : null] },
    { name: t('attempts'), isNumber: true, cell: (line) => format.count(line.attempts) },
    { name: t('started'), isNumber: true, cell: (line) => format.full(line.created_at) },
    {
      name: t('took'),
      isNumber: true,
      cell: (line) => format.duration((line.ended_at ?? now) - (line.started_at ?? line.created_at)),
    },
  ];
}

export function readFilter(query) {
  const page = Number.parseInt(query.get('page') ?? '0', 10);
  return {
    status: query.get('status') ?? '',
    agent: query.get('agent') ?? '',
    text: query.get('q') ?? '',
    page: Number.isFinite(page) && page > 0 ? page : 0,
  };
}

function fits(line, filter) {
  if (filter.status === 'open' && line.ended_at !== null) return false;
  if (filter.status !== '' && filter.status !== 'open' && line.status !== filter.status) return false;
  if (filter.agent !== '' && (line.agent || '-') !== filter.agent) return false;
  if (filter.text === '') return true;
  const text = filter.text.toLowerCase();
  return [line.id, line.agent, line.stage, line.workflow, line.node, line.vendor, line.model, line.failure_kind].some(
    (value) => String(value).toLowerCase().includes(text),
  );
}

export function filterAddress(filter) {
  const query = new URLSearchParams();
  if (filter.status !== '') query.set('status', filter.status);
  if (filter.agent !== '') query.set('agent', filter.agent);
  if (filter.text !== '') query.set('q', filter.text);
  if (filter.page > 0) query.set('page', String(filter.page));
  const text = query.toString();
  return `#/executions${text === '' ? '' : `?${text}`}`;
}

function filters({ data, t }, filter) {
  const agents = [...new Set((data.list ?? []).map((line) => line.agent || '-'))].sort();
  const choice = (status, name) =>
    h(
      'a',
      { href: filterAddress({ ...filter, status, page: 0 }), 'aria-current': filter.status === status ? 'true' : null },
      name,
    );
  return h(
    'div',
    { class: 'filters' },
    h(
      'div',
      { class: 'segments', role: 'group', 'aria-label': t('status') },
      choice('', t('filterAll')),
      choice('open', t('filterOpen')),
      choice('failed', t('filterFailed')),
      choice('held', t('filterHeld')),
    ),
    h(
      'select',
      { 'data-action': 'agent', 'aria-label': t('agent') },
      h('option', { value: '', selected: filter.agent === '' }, t('allAgents')),
      agents.map((name) => h('option', { value: name, selected: filter.agent === name }, name)),
    ),
    h('input', {
      type: 'search',
      'data-action': 'search',
      placeholder: t('search'),
      'aria-label': t('search'),
      value: filter.text,
    }),
  );
}

function pageLink(name, filter, page, isEnabled) {
  return isEnabled ? h('a', { href: filterAddress({ ...filter, page }) }, name) : h('span', { class: 'quiet' }, name);
}
