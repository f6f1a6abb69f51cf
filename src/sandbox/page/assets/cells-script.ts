export const cellsScript = `import { ask, fileAddress, make, plain, toast } from '/table/dom.js';
import { editValue, showFile } from '/table/editors.js';

// What only the bot writes: shown, not edited here.
const botColumns = ['状态', '进度', '报错', '提示', '成本(元)', '成本', '耗时(秒)', '执行编号'];
const readOnlyTypes = [19, 20, 1001, 1002, 1003, 1004, 1005];
const tones = { 生成中: 'blue busy', 待确认: 'amber', 完成: 'green', 失败: 'red', 待核对: 'violet', 已取消: '' };
const icons = { 1: 'A', 2: '#', 3: '▾', 4: '▾', 5: '◷', 7: '✓', 11: '☺', 17: '▣', 1003: '☺' };

export const iconOf = (field) => icons[field.type] ?? '·';
export const widthOf = (field) =>
  field.type === 17 ? 'w-files' : field.type === 2 ? 'w-number' : field.type === 3 ? 'w-select' : field.type === 1003 || field.type === 11 ? 'w-person' : 'w-text';

const isLocked = (field) => botColumns.includes(field.name) || readOnlyTypes.includes(field.type);

async function save(table, row, field, value) {
  try {
    await ask('PUT', '/tables/' + table.id + '/rows/' + row.record_id, { fields: { [field.name]: value } });
    table.refresh();
  } catch (error) {
    toast(error.message, true);
  }
}

function textCell(table, row, field, cell) {
  const value = plain(cell);
  const fine = ['进度', '提示', '执行编号'].includes(field.name);
  const tone = field.name === '报错' && value !== '' ? ' bad' : fine ? ' fine' : '';
  const locked = isLocked(field);
  const open = async () => {
    const next = await editValue({ title: field.name, value, isNumber: false, isLocked: locked });
    if (next !== undefined) await save(table, row, field, next === '' ? null : next);
  };
  const label = field.name + (value === '' ? '，空' : '');
  return make('button', { type: 'button', class: 'text' + tone + (value === '' ? ' none' : ''), title: value, 'aria-label': label, onclick: open }, make('span', {}, value === '' && !locked ? '点这里填写' : value));
}

function numberCell(table, row, field, cell) {
  const value = cell === undefined ? '' : String(cell);
  const shown = value === '' ? '' : field.name.startsWith('成本') ? '¥ ' + Number(value).toFixed(4) : value;
  const open = async () => {
    const next = await editValue({ title: field.name, value, isNumber: true, isLocked: isLocked(field) });
    if (next !== undefined) await save(table, row, field, next === '' ? null : Number(next));
  };
  return make('button', { type: 'button', class: 'amount', 'aria-label': field.name, onclick: open }, shown);
}

function selectCell(table, row, field, cell) {
  const value = plain(cell);
  if (field.name === '状态') return value === '' ? '' : make('span', { class: 'chip ' + (tones[value] ?? '') }, value);
  const names = field.options.map((option) => option.name);
  if (value !== '' && !names.includes(value)) names.push(value);
  const options = ['', ...names].map((name) => make('option', { value: name, selected: name === value }, name === '' ? '—' : name));
  return make('select', { class: value === '' ? 'pick' : 'pick set', 'aria-label': field.name, disabled: isLocked(field), onchange: (event) => save(table, row, field, event.target.value === '' ? null : event.target.value) }, ...options);
}

async function upload(table, row, field, files) {
  for (const file of files) {
    const query = '?column=' + encodeURIComponent(field.name) + '&name=' + encodeURIComponent(file.name);
    try {
      await ask('POST', '/tables/' + table.id + '/rows/' + row.record_id + '/files' + query, file);
      toast('已放入 ' + file.name);
    } catch (error) {
      toast(error.message, true);
    }
  }
  table.refresh();
}

function fileTile(table, row, field, file) {
  const address = fileAddress(file);
  const isVideo = file.type.startsWith('video/');
  const face = file.type.startsWith('image/')
    ? make('img', { src: address, alt: file.name, loading: 'lazy' })
    : isVideo
      ? make('video', { src: address + '#t=0.1', muted: true, preload: 'metadata', playsInline: true })
      : make('span', { class: 'name' }, file.name);
  const drop = async () => {
    const query = '?column=' + encodeURIComponent(field.name);
    await ask('DELETE', '/tables/' + table.id + '/rows/' + row.record_id + '/files/' + file.file_token + query).catch((error) => toast(error.message, true));
    table.refresh();
  };
  return make(
    'div', { class: 'file', title: file.name },
    make('button', { type: 'button', 'aria-label': '打开 ' + file.name, onclick: () => showFile(file) }, face),
    isVideo && make('span', { class: 'play' }),
    make('button', { type: 'button', class: 'drop', 'aria-label': '移除 ' + file.name, onclick: drop }, '×'),
  );
}

function filesCell(table, row, field, cell) {
  const picker = make('input', { type: 'file', multiple: true, 'aria-label': '给' + field.name + '放文件', onchange: () => upload(table, row, field, [...picker.files]) });
  const box = make('div', { class: 'files' }, ...(cell ?? []).map((file) => fileTile(table, row, field, file)), make('label', { class: 'upload', title: '点选或拖入文件' }, '+', picker));
  box.addEventListener('dragover', (event) => { event.preventDefault(); box.classList.add('over'); });
  box.addEventListener('dragleave', () => box.classList.remove('over'));
  box.addEventListener('drop', (event) => { event.preventDefault(); box.classList.remove('over'); upload(table, row, field, [...event.dataTransfer.files]); });
  return box;
}

export function cellOf(table, row, field) {
  const cell = row.fields[field.name];
  switch (field.type) {
    case 17: return filesCell(table, row, field, cell);
    case 3: return selectCell(table, row, field, cell);
    case 2: return numberCell(table, row, field, cell);
    case 7: return make('input', { type: 'checkbox', checked: cell === true, 'aria-label': field.name, onchange: (event) => save(table, row, field, event.target.checked) });
    case 1: return textCell(table, row, field, cell);
    default: return make('span', { class: 'text fine' }, plain(cell));
  }
}
`;
