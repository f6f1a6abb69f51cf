export const appScript = `import { cellOf, iconOf, widthOf } from '/table/cells.js';
import { ask, find, make, plain, toast } from '/table/dom.js';

// The table that is shown; rows are drawn again only when their content changed.
const table = { id: '', version: '', fields: [], drawn: new Map(), refresh: () => refresh(true) };
let isAsking = false;

function drawHead(fields) {
  const cells = fields.map((field) => make('th', { class: widthOf(field), title: field.description, scope: 'col' }, make('span', { class: 'icon' }, iconOf(field)), field.name));
  find('head').replaceChildren(make('tr', {}, make('th', { class: 'number', scope: 'col' }, '#'), ...cells));
}

async function removeRow(row) {
  if (!confirm('删除这一行？')) return;
  await ask('DELETE', '/tables/' + table.id + '/rows/' + row.record_id).catch((error) => toast(error.message, true));
  table.refresh();
}

function drawRow(row, index, isNew) {
  const cells = table.fields.map((field) => make('td', { 'data-column': field.name }, cellOf(table, row, field)));
  const mark = make('td', { class: 'number' }, make('span', { class: 'index' }, String(index + 1)), make('button', { type: 'button', class: 'remove', 'aria-label': '删除第 ' + (index + 1) + ' 行', onclick: () => removeRow(row) }, '✕'));
  return make('tr', { 'data-record': row.record_id, class: isNew ? '' : 'flash' }, mark, ...cells);
}

// A select that is open, or a field with the cursor, is not pulled from under the person's hands.
const isBusy = (node) => node.contains(document.activeElement) && document.activeElement.matches('select, input[type=file]') && document.activeElement.matches(':open');

function drawRows(rows) {
  const body = find('body');
  const seen = new Set();
  rows.forEach((row, index) => {
    const text = JSON.stringify([row.fields, index, table.fields]);
    const known = table.drawn.get(row.record_id);
    seen.add(row.record_id);
    if (known !== undefined && (known.text === text || isBusy(known.node))) return;
    const focused = known?.node.contains(document.activeElement) ? document.activeElement.closest('[data-column]')?.dataset.column : undefined;
    const node = drawRow(row, index, known === undefined);
    if (known === undefined) body.append(node);
    else known.node.replaceWith(node);
    if (focused !== undefined) node.querySelector('[data-column="' + CSS.escape(focused) + '"] :is(button,select,input)')?.focus();
    table.drawn.set(row.record_id, { text, node });
  });
  for (const [id, { node }] of table.drawn) {
    if (seen.has(id)) continue;
    node.remove();
    table.drawn.delete(id);
  }
  find('empty').hidden = rows.length > 0;
}

function drawTotals(rows) {
  const cost = rows.reduce((sum, row) => sum + Number(row.fields['成本(元)'] ?? row.fields['成本'] ?? 0), 0);
  const count = (word) => rows.filter((row) => plain(row.fields['状态']) === word).length;
  const part = (label, value) => make('span', {}, label + ' ', make('b', {}, value));
  find('totals').replaceChildren(part('生成中', String(count('生成中'))), part('待确认', String(count('待确认'))), part('完成', String(count('完成'))), part('模拟成本', '¥' + cost.toFixed(2)));
}

async function refresh(isForced = false) {
  if (isAsking && !isForced) return;
  isAsking = true;
  const id = table.id;
  try {
    const data = await ask('GET', '/tables/' + id + '?version=' + encodeURIComponent(table.version));
    find('live').classList.remove('off');
    find('live').textContent = '已连接';
    if (data.unchanged === true || id !== table.id) return;
    if (JSON.stringify(data.fields) !== JSON.stringify(table.fields)) {
      table.fields = data.fields;
      drawHead(data.fields);
    }
    table.version = data.version;
    drawRows(data.rows);
    drawTotals(data.rows);
  } catch {
    find('live').classList.add('off');
    find('live').textContent = '连接断开';
  } finally {
    isAsking = false;
  }
}

function openTable(id) {
  Object.assign(table, { id, version: '', fields: [], drawn: new Map() });
  find('body').replaceChildren();
  for (const tab of find('tabs').children) tab.setAttribute('aria-selected', String(tab.dataset.table === id));
  history.replaceState(null, '', '#' + id);
  return refresh(true);
}

async function start() {
  const world = await ask('GET', '/world');
  find('tabs').replaceChildren(...world.tables.map(({ tableId, name }) => make('button', { type: 'button', role: 'tab', 'data-table': tableId, onclick: () => openTable(tableId) }, name)));
  const wanted = location.hash.slice(1);
  const first = world.tables.find((one) => one.tableId === wanted) ?? world.tables[0];
  if (first === undefined) return;
  find('add').addEventListener('click', async () => {
    await ask('POST', '/tables/' + table.id + '/rows', { fields: {} }).catch((error) => toast(error.message, true));
    await refresh(true);
    find('sheet').scrollTo({ top: find('sheet').scrollHeight, behavior: 'smooth' });
  });
  await openTable(first.tableId);
  setInterval(() => { if (!document.hidden) refresh(); }, 700);
}

start().catch((error) => toast(error.message, true));
`;
