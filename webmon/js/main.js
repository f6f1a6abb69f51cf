import { createData, followEvents, staleAfterMs } from './data.js';
import { h, morph } from './dom.js';
import { createFormat, duration } from './format.js';
import { header, verdict } from './shell.js';
import { createWords } from './strings.js';
import { judge } from './verdict.js';
import { viewNow } from './view-now.js';

const refreshEveryMs = 5_000;
/** Views beyond the first are loaded when they are opened. */
const views = {
  now: { render: viewNow },
  executions: { load: async () => ({ render: (await import('./view-executions.js')).viewExecutions }) },
  execution: { load: async () => ({ render: (await import('./view-execution.js')).viewExecution }) },
  money: {
    load: async () => {
      const { viewMoney, drawMoney } = await import('./view-money.js');
      return { render: viewMoney, after: drawMoney };
    },
  },
  vendors: { load: async () => ({ render: (await import('./view-rest.js')).viewVendors }) },
  people: { load: async () => ({ render: (await import('./view-rest.js')).viewPeople }) },
  feishu: { load: async () => ({ render: (await import('./view-rest.js')).viewFeishu }) },
  alerts: { load: async () => ({ render: (await import('./view-rest.js')).viewAlerts }) },
};

const source = createData();
const app = document.getElementById('app');
const isServed = document.documentElement.dataset.served !== undefined;

function remembered(key, otherwise) {
  try {
    return localStorage.getItem(`gridloom-${key}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}
function remember(key, value) {
  try {
    localStorage.setItem(`gridloom-${key}`, value);
  } catch {
    // A browser that keeps nothing still shows the page.
  }
}

let language = remembered('language', navigator.language.startsWith('zh') ? 'zh' : 'en');
let theme = remembered('theme', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

function readRoute() {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, id = ''] = path.split('/');
  return { name: Object.hasOwn(views, name) ? name : 'now', id, query: new URLSearchParams(query) };
}

function pageOf(route) {
  const t = createWords(language);
  const format = createFormat(language, source.state.metrics?.timezone ?? 'Asia/Shanghai');
  // The page's "now" is the worker's clock: what it wrote, plus the age that the browser measured.
  const written = Date.parse(source.state.metrics?.updated_at ?? '');
  const ageMs = source.ageMs();
  const now = Number.isFinite(written) && Number.isFinite(ageMs) ? written + ageMs : Date.now();
  return { route, t, format, now, ageMs, isServed, data: source.state, look: `${theme}-${language}`, theme, language };
}

function render() {
  const route = readRoute();
  const page = pageOf(route);
  const view = views[route.name];
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  document.documentElement.dataset.theme = theme;
  const items = judge({ ...page, metrics: source.state.metrics, fault: source.state.fault });
  const level = source.state.metrics === undefined && items.length === 0 ? 'wait' : (items[0]?.level ?? 'ok');
  document.title = `${{ bad: '● ', warn: '▲ ', ok: '', wait: '' }[level]}${page.t(route.name === 'execution' ? 'executions' : route.name)} · 织表 Gridloom`;
  const isStale = items[0]?.isStale === true;
  const shell = h(
    'div',
    { id: 'app', class: isStale ? 'is-stale' : '' },
    header(page),
    h(
      'main',
      { id: 'main', tabindex: -1 },
      route.name === 'now' || level === 'bad' ? verdict(page, items, level) : null,
      body(page, view),
    ),
  );
  morph(app, shell);
  if (source.state.metrics !== undefined) view.after?.(page);
}

function body(page, view) {
  if (page.data.metrics === undefined) return null;
  if (view.render === undefined) {
    view.loading ??= view
      .load()
      .then((loaded) => Object.assign(view, loaded))
      .then(render);
    return h('p', { class: 'quiet' }, page.t('loading'));
  }
  return h('div', { 'data-key': page.route.name }, view.render(page));
}

async function refresh() {
  const route = readRoute();
  const isListShown = route.name === 'now' || route.name === 'executions';
  const rest = Promise.all([
    isListShown ? source.refreshList() : undefined,
    route.name === 'execution' ? source.refreshDetail(route.id) : undefined,
    isServed && route.name === 'money' ? refreshSubmitters() : undefined,
  ]);
  await source.refresh();
  // The numbers come first; the long list follows as soon as it is here.
  if (source.state.metrics !== undefined) render();
  await rest;
  render();
}

async function refreshSubmitters() {
  try {
    source.state.submitters = await (await fetch('local/submitters.json')).json();
  } catch {
    source.state.submitters ??= undefined;
  }
}

function setFilter(part) {
  void import('./view-executions.js').then(({ readFilter, filterAddress }) => {
    const address = filterAddress({ ...readFilter(readRoute().query), ...part, page: 0 });
    history.replaceState(null, '', address);
    render();
  });
}

document.addEventListener('click', (event) => {
  const action =
    event.target instanceof Element ? event.target.closest('button[data-action]')?.dataset.action : undefined;
  if (action === 'language') remember('language', (language = language === 'zh' ? 'en' : 'zh'));
  else if (action === 'theme') remember('theme', (theme = theme === 'dark' ? 'light' : 'dark'));
  else return;
  render();
});
document.addEventListener('input', (event) => {
  const action = event.target.dataset?.action;
  if (action === 'search') setFilter({ text: event.target.value });
  if (action === 'agent') setFilter({ agent: event.target.value });
});
addEventListener('hashchange', () => {
  scrollTo(0, 0);
  render();
  void refresh();
});
let resizing = 0;
addEventListener('resize', () => {
  clearTimeout(resizing);
  resizing = setTimeout(render, 150);
});

let isBusy = false;
async function cycle() {
  if (isBusy) return;
  isBusy = true;
  try {
    await refresh();
  } finally {
    isBusy = false;
  }
}
render();
void cycle();
setInterval(() => {
  if (!document.hidden) void cycle();
}, refreshEveryMs);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void cycle();
});
// Between two refreshes the age goes on, so that a page whose server is gone turns red by itself.
setInterval(() => {
  if (source.state.metrics === undefined || document.hidden) return;
  if (source.ageMs() > staleAfterMs) {
    render();
    return;
  }
  const line = document.querySelector('[data-part="facts"]');
  const [, ...others] = line?.textContent.split(' · ') ?? [];
  if (line !== null)
    line.textContent = [
      createWords(language)('updated', { age: duration(Math.round(source.ageMs() / 1000) * 1000, language) }),
      ...others,
    ].join(' · ');
}, 1_000);
let isWaking = false;
followEvents(() => {
  if (isWaking) return;
  isWaking = true;
  setTimeout(() => {
    isWaking = false;
    void cycle();
  }, 700);
});
