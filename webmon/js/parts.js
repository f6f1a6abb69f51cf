import { h, s } from './dom.js';

/** A titled box. `extra` stands at the right of its title. */
export function card(title, props, ...children) {
  const { extra, ...rest } = props ?? {};
  return h(
    'section',
    { ...rest, class: `card ${rest.class ?? ''}`, 'aria-label': title },
    h('header', { class: 'card-head' }, h('h2', {}, title), extra),
    ...children,
  );
}

/** One big number with its name. */
export function tile(name, value, note, tone) {
  return h(
    'div',
    { class: `tile ${tone ?? ''}` },
    h('dt', {}, name),
    h('dd', {}, h('span', { class: 'big' }, value), note ? h('small', {}, note) : null),
  );
}

const shapes = {
  good: 'M3 8.5l3.2 3.2L13 5',
  bad: 'M4 4l8 8M12 4l-8 8',
  warn: 'M8 3.5v5.5M8 12.2v.3',
  busy: 'M8 3v5l3.2 2',
  idle: 'M4.5 8h7',
  skip: 'M4 4.5l4 3.5-4 3.5M9 4.5l3.5 3.5L9 11.5',
};

/** A sign that is told by its shape as well as by its colour. */
export function sign(tone) {
  return s(
    'svg',
    { class: `sign ${tone}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    s('circle', { cx: 8, cy: 8, r: 7.25 }),
    s('path', { d: shapes[tone] ?? shapes.idle }),
  );
}

export const toneOf = (status) => tones[status] ?? 'idle';
const tones = {
  succeeded: 'good',
  partial: 'warn',
  failed: 'bad',
  refused: 'bad',
  expired: 'bad',
  held: 'warn',
  unknown: 'warn',
  overdue: 'warn',
  running: 'busy',
  waiting_provider: 'busy',
  accepted: 'busy',
  intended: 'busy',
  queued: 'idle',
  pending: 'idle',
  skipped: 'skip',
  canceled: 'skip',
  fatal: 'bad',
  error: 'bad',
  warning: 'warn',
  info: 'good',
};

/** A status in words, with its sign. */
export function badge(status, t, prefix = 'status') {
  const tone = toneOf(status);
  return h('span', { class: `badge ${tone}` }, sign(tone), t(`${prefix}.${status}`));
}

/**
 * A table: `columns` are `{name, cell(row), isNumber?, isWide?}`. On a phone each row becomes a small card, so every cell
 * carries its column's name.
 */
export function table(label, columns, rows, rowProps) {
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      {},
      h('caption', { class: 'hidden' }, label),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((column) => h('th', { scope: 'col', class: column.isNumber ? 'number' : '' }, column.name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) =>
          h(
            'tr',
            rowProps?.(row) ?? {},
            columns.map((column) =>
              h('td', { class: column.isNumber ? 'number' : '', 'data-name': column.name }, column.cell(row)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Where an execution stands: the node's title, with its path below, or the path alone. */
export function nodeName(line) {
  if (!line.title) return h('code', {}, line.node || '–');
  return [line.title, h('small', {}, line.node)];
}

/** What stands where nothing is to be shown. */
export function empty(title, text) {
  return h('div', { class: 'empty' }, weave(), h('p', { class: 'empty-title' }, title), text ? h('p', {}, text) : null);
}

function weave() {
  return s(
    'svg',
    { viewBox: '0 0 64 32', class: 'weave', 'aria-hidden': 'true' },
    [6, 18, 30, 42, 54].map((x, index) =>
      s('path', { d: `M${x} 2v${index % 2 ? 6 : 28}M${x} ${index % 2 ? 14 : 32}v${index % 2 ? 16 : 0}` }),
    ),
    s('path', { class: 'weft', d: 'M2 11h62M2 23h62' }),
  );
}

/** A bar of parts in proportion: `[{value, tone, name}]`. */
export function bar(parts, label) {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  return h(
    'div',
    { class: 'bar', role: 'img', 'aria-label': label },
    parts
      .filter((part) => part.value > 0)
      .map((part) =>
        h('i', { class: part.tone, title: `${part.name} ${part.value}`, style: { 'flex-grow': part.value / total } }),
      ),
  );
}

/** Thirty small columns: what a day cost, in one glance. */
export function sparkline(values, label) {
  const most = Math.max(...values, 1);
  const width = 120;
  const step = width / values.length;
  return s(
    'svg',
    { class: 'spark', viewBox: `0 0 ${width} 28`, role: 'img', 'aria-label': label, preserveAspectRatio: 'none' },
    values.map((value, index) => {
      const height = value === 0 ? 0.8 : Math.max(1.5, (value / most) * 27);
      return s('rect', { x: index * step + 0.6, y: 28 - height, width: step - 1.2, height, rx: 0.8 });
    }),
  );
}
