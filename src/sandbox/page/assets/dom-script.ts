export const domScript = `// Small helpers: elements are made from text, never from markup, so nothing in a cell can run.
export function make(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'class') node.className = value;
    else if (key in node && key !== 'list') node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

export const find = (id) => document.getElementById(id);

export function toast(text, isBad = false) {
  const note = make('div', { class: isBad ? 'toast bad' : 'toast' }, text);
  find('toasts').append(note);
  setTimeout(() => note.remove(), isBad ? 6000 : 2600);
}

export async function ask(method, path, body) {
  const isBytes = body instanceof Blob;
  const answer = await fetch('/table/api' + path, {
    method,
    headers: body === undefined || isBytes ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : isBytes ? body : JSON.stringify(body),
  });
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(data.error ?? '请求没有成功（' + answer.status + '）');
  return data;
}

// The plain text of a cell, whatever its shape.
export function plain(cell) {
  if (cell === undefined || cell === null) return '';
  if (Array.isArray(cell)) return cell.map(plain).join('');
  if (typeof cell === 'object') return plain(cell.text ?? cell.name ?? cell.value ?? cell.link);
  return String(cell);
}

export const fileAddress = (file) => '/table/media/' + encodeURIComponent(file.file_token);
`;
