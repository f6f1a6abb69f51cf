export const editorsScript = `import { fileAddress, find, make } from '/table/dom.js';

function titleBar(title, dialog, extra) {
  return make(
    'div', { class: 'bar' },
    make('strong', {}, title),
    make('span', { class: 'spring' }),
    extra,
    make('button', { class: 'shut', type: 'button', 'aria-label': '关闭', onclick: () => dialog.close() }, '×'),
  );
}

// Shows a picture or plays a film; other files can be fetched.
export function showFile(file) {
  const viewer = find('viewer');
  const address = fileAddress(file);
  const shown = file.type.startsWith('video/')
    ? make('video', { src: address, controls: true, autoplay: true, loop: true, muted: true, playsInline: true })
    : file.type.startsWith('image/')
      ? make('img', { src: address, alt: file.name })
      : make('p', { class: 'empty' }, '这个文件不能预览');
  const save = make('a', { href: address, download: file.name }, '下载');
  viewer.replaceChildren(titleBar(file.name, viewer, save), shown);
  viewer.onclick = (event) => { if (event.target === viewer) viewer.close(); };
  viewer.onclose = () => viewer.replaceChildren();
  viewer.showModal();
}

// Asks for a text or a number; resolves with the new value, or undefined when nothing was changed.
export function editValue({ title, value, isNumber, isLocked }) {
  const editor = find('editor');
  return new Promise((resolve) => {
    const input = isNumber
      ? make('input', { type: 'number', step: 'any', value, readOnly: isLocked, 'aria-label': title })
      : make('textarea', { value, readOnly: isLocked, 'aria-label': title, placeholder: isLocked ? '' : '在这里输入…' });
    let result;
    const keep = () => {
      result = input.value;
      editor.close();
    };
    const buttons = isLocked
      ? []
      : [
          make('button', { class: 'ghost', type: 'button', onclick: () => editor.close() }, '取消'),
          make('button', { class: 'primary', type: 'button', onclick: keep }, '保存'),
        ];
    input.addEventListener('keydown', (event) => {
      if (!isLocked && event.key === 'Enter' && (event.metaKey || event.ctrlKey || isNumber)) keep();
    });
    editor.replaceChildren(
      titleBar(isLocked ? title + '（机器人填写）' : title, editor),
      input,
      ...(buttons.length === 0 ? [] : [make('div', { class: 'foot' }, ...buttons)]),
    );
    editor.onclose = () => {
      editor.replaceChildren();
      resolve(result === value ? undefined : result);
    };
    editor.showModal();
    input.focus();
  });
}
`;
