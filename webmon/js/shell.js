import { h } from './dom.js';
import { sign } from './parts.js';
import { sinceTick } from './verdict.js';

const tabs = ['now', 'executions', 'money', 'vendors', 'people', 'feishu', 'alerts'];

/** The bar at the top: where one is, and how the page looks. */
export function header({ t, route, data, theme, language }) {
  return h(
    'header',
    { class: 'top' },
    h(
      'a',
      { class: 'brand', href: '#/now' },
      h('img', { src: 'icon.svg', alt: '', width: 26, height: 26 }),
      h('span', {}, '织表'),
      h('small', {}, 'Gridloom'),
    ),
    h(
      'nav',
      { 'aria-label': t('sections') },
      tabs.map((name) => {
        const isHere = route.name === name || (name === 'executions' && route.name === 'execution');
        const count = name === 'alerts' ? (data.metrics?.alerts.raised.length ?? 0) : 0;
        return h(
          'a',
          { href: `#/${name}`, 'aria-current': isHere ? 'page' : null },
          t(name),
          count > 0 ? h('b', { class: 'dot' }, count) : null,
        );
      }),
    ),
    h(
      'div',
      { class: 'tools' },
      data.metrics?.mode === 'sandbox' ? h('span', { class: 'chip' }, t('sandbox')) : null,
      h(
        'button',
        { type: 'button', 'data-action': 'language', lang: language === 'zh' ? 'en' : 'zh-CN' },
        t('language'),
      ),
      h('button', { type: 'button', 'data-action': 'theme' }, t(theme === 'dark' ? 'themeLight' : 'themeDark')),
    ),
  );
}

/** All is well, or what is not and what to do: the first thing that one sees. */
export function verdict({ t, format, ageMs, data, now }, items, level) {
  const title = {
    wait: t('loading'),
    ok: t('allWell'),
    warn: t('watch', { n: items.length }),
    bad: items[0]?.isStale ? items[0].title : t('trouble'),
  }[level];
  const tick = data.metrics === undefined ? Infinity : sinceTick(data.metrics, now);
  const facts =
    data.metrics === undefined
      ? []
      : [
          t('updated', { age: format.duration(Math.round(ageMs / 1000) * 1000) }),
          t('lastTick', { age: Number.isFinite(tick) ? format.duration(Math.round(tick / 1000) * 1000) : '–' }),
          t('workersAlive', { n: data.metrics.workers.length }),
        ];
  return h(
    'section',
    { class: `verdict ${level}`, 'data-key': 'verdict', 'aria-label': title },
    h(
      'div',
      { class: 'verdict-head' },
      sign({ ok: 'good', warn: 'warn', bad: 'bad', wait: 'busy' }[level]),
      h('h1', { role: 'status' }, title),
      h('p', { class: 'facts-line', 'data-part': 'facts' }, facts.join(' · ')),
    ),
    items.length === 0
      ? null
      : h(
          'ul',
          {},
          items.map((item) =>
            h(
              'li',
              { class: item.level, 'data-key': item.title },
              sign(item.level),
              h(
                'div',
                {},
                item.isStale ? null : h('b', {}, item.to ? h('a', { href: item.to }, item.title) : item.title),
                h('p', {}, item.text),
              ),
            ),
          ),
        ),
  );
}
