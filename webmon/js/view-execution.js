import { h } from './dom.js';
import { graphPicture } from './graph.js';
import { badge, card, empty, table } from './parts.js';

/** One execution: its graph, when each call waited for whom, what each cost, and what went wrong in words. */
export function viewExecution(page) {
  const { data, t, route } = page;
  const back = h('p', {}, h('a', { href: '#/executions' }, `← ${t('back')}`));
  const { detail } = data;
  if (detail === undefined) return h('div', { class: 'stack' }, back, h('p', { class: 'quiet' }, t('loading')));
  if (detail === null)
    return h(
      'div',
      { class: 'stack' },
      back,
      card(t('executions'), {}, empty(t('notFound'), t('notFoundText', { id: route.id }))),
    );
  return h(
    'div',
    { class: 'stack' },
    back,
    head(page, detail),
    card(
      t('graph'),
      {},
      detail.graph === null ? h('p', { class: 'quiet' }, t('noGraph')) : graphPicture(detail.graph, detail.nodes, t),
    ),
    card(
      t('timeline'),
      {},
      detail.attempts.length === 0 ? h('p', { class: 'quiet' }, t('noCalls')) : timeline(page, detail),
    ),
    card(t('calls'), {}, detail.attempts.length === 0 ? h('p', { class: 'quiet' }, t('noCalls')) : calls(page, detail)),
    thumbnails(page, detail),
    events(page, detail),
  );
}

function head({ t, format, now }, detail) {
  const end = detail.ended_at ?? now;
  return h(
    'section',
    { class: 'card execution-head' },
    h('h2', {}, `${detail.agent || detail.workflow}${detail.stage ? ` · ${detail.stage}` : ''}`),
    h('p', {}, badge(detail.status, t), ' ', h('code', {}, detail.id)),
    h(
      'dl',
      { class: 'facts' },
      fact(t('workflow'), detail.workflow),
      fact(t('started'), format.full(detail.created_at)),
      fact(t('took'), format.duration(end - (detail.started_at ?? detail.created_at))),
      fact(t('cost'), format.yuan(detail.cost_cny_micros)),
      detail.open_cny_micros > 0 ? fact(t('reserved'), format.yuan(detail.open_cny_micros)) : null,
    ),
    detail.failure === null
      ? null
      : h(
          'p',
          { class: 'failure' },
          h('b', {}, t(`kind.${detail.failure.kind}`)),
          ` ${detail.failure.text} `,
          h('code', {}, detail.failure.code),
        ),
    detail.marks.length === 0
      ? null
      : h(
          'p',
          { class: 'chips' },
          detail.marks.map((mark) => h('span', { class: 'chip warn' }, `${t(`mark.${mark.kind}`)} · ${mark.node}`)),
        ),
  );
}

const fact = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));

/** A row for each call; what is light is waiting for the vendor to take it, what is full is the vendor's work. */
function timeline({ t, format, now }, detail) {
  const from = Math.min(...detail.attempts.map((attempt) => attempt.intended_at));
  const to = Math.max(
    detail.ended_at ?? now,
    ...detail.attempts.map((attempt) => attempt.settled_at ?? attempt.intended_at),
  );
  const span = Math.max(1, to - from);
  const pct = (at) => `${((at - from) / span) * 100}%`;
  const width = (start, end) => `${Math.max(0.4, ((end - start) / span) * 100)}%`;
  return h(
    'ol',
    { class: 'timeline' },
    detail.attempts.map((attempt) => {
      const end = attempt.settled_at ?? (['accepted', 'intended'].includes(attempt.state) ? now : attempt.intended_at);
      const taken = attempt.accepted_at ?? end;
      const isAtOnce =
        attempt.accepted_at === null || (attempt.settled_at !== null && attempt.settled_at - taken < 100);
      const tone =
        attempt.state === 'succeeded' ? 'good' : ['accepted', 'intended'].includes(attempt.state) ? 'busy' : 'bad';
      const words = `${attempt.provider}/${attempt.model} · ${t(`status.${attempt.state}`)} · ${format.duration(end - attempt.intended_at)}`;
      return h(
        'li',
        { 'data-key': attempt.id },
        h(
          'span',
          { class: 'lane' },
          h('code', {}, attempt.node),
          attempt.ordinal > 1 ? h('small', {}, `#${attempt.ordinal}`) : null,
        ),
        h(
          'span',
          { class: 'track', title: `${format.full(attempt.intended_at)} · ${words}` },
          // A call that answers at once has no time at the vendor to tell apart.
          isAtOnce
            ? h('i', { class: tone, style: { left: pct(attempt.intended_at), width: width(attempt.intended_at, end) } })
            : [
                h('i', {
                  class: 'wait',
                  style: { left: pct(attempt.intended_at), width: width(attempt.intended_at, taken) },
                }),
                h('i', { class: tone, style: { left: pct(taken), width: width(taken, end) } }),
              ],
        ),
        h('span', { class: 'what' }, words),
      );
    }),
  );
}

function calls({ t, format }, detail) {
  const columns = [
    {
      name: t('node'),
      cell: (attempt) => [
        h('code', {}, attempt.node),
        attempt.ordinal > 1 ? h('small', {}, `#${attempt.ordinal}`) : null,
      ],
    },
    { name: t('vendor'), cell: (attempt) => [attempt.provider, h('small', {}, attempt.model)] },
    {
      name: t('status'),
      cell: (attempt) => [badge(attempt.state, t), attempt.refused_output ? h('small', {}, t('refusedOutput')) : null],
    },
    {
      name: t('why'),
      cell: (attempt) =>
        attempt.failure === null
          ? h('small', {}, t('polls', { n: attempt.polls }))
          : [attempt.failure.text, ' ', h('code', {}, attempt.failure.code)],
    },
    {
      name: t('took'),
      isNumber: true,
      cell: (attempt) =>
        attempt.settled_at === null ? '–' : format.duration(attempt.settled_at - attempt.intended_at),
    },
    { name: t('cost'), isNumber: true, cell: (attempt) => costCell(attempt.cost, t, format) },
  ];
  const total = h('p', { class: 'sum-line' }, t('total'), ' ', h('b', {}, format.yuan(detail.cost_cny_micros)));
  return h(
    'div',
    {},
    table(t('calls'), columns, detail.attempts, (attempt) => ({ 'data-key': attempt.id })),
    total,
  );
}

function costCell(cost, t, format) {
  if (cost === null) return '–';
  if (cost.state === 'released') return h('small', {}, t('released'));
  const source = cost.state === 'reserved' ? t('reserved') : t(`cost.${cost.source}`);
  return [format.yuan(cost.cny_micros), h('small', {}, `${format.sum(cost.micros, cost.currency)} · ${source}`)];
}

/** Only `gridloom serve` can show results; the static files hold none. */
function thumbnails({ isServed, t }, detail) {
  const pictures = isServed ? (detail.thumbnails ?? []) : [];
  if (pictures.length === 0) return null;
  return card(
    t('results'),
    {},
    h(
      'ul',
      { class: 'thumbs' },
      pictures.map((picture) =>
        h(
          'li',
          { 'data-key': picture.hash },
          h('img', { src: `thumbs/${picture.hash}`, alt: picture.name, loading: 'lazy', width: 120, height: 160 }),
        ),
      ),
    ),
  );
}

function events({ t, format }, detail) {
  return h(
    'details',
    { class: 'card' },
    h('summary', {}, `${t('events')} (${format.count(detail.events.length)})`),
    h(
      'ol',
      { class: 'events' },
      detail.events.map((event) =>
        h(
          'li',
          { 'data-key': event.seq },
          h('time', {}, format.full(event.at)),
          h('code', {}, event.type),
          h('span', {}, [event.node, event.provider, event.model].filter((part) => part).join(' · ')),
        ),
      ),
    ),
  );
}
