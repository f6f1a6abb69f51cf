import { appScript } from './app-script.ts';
import { cellsScript } from './cells-script.ts';
import { domScript } from './dom-script.ts';
import { editorsScript } from './editors-script.ts';
import { markup } from './markup.ts';
import { styles } from './styles.ts';

const script = 'text/javascript; charset=utf-8';

/** The page's files by their paths. They are kept as text in modules, so that the sandbox needs no file system. */
export const pageAssets: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  '/': { type: 'text/html; charset=utf-8', text: markup },
  '/table/style.css': { type: 'text/css; charset=utf-8', text: styles },
  '/table/app.js': { type: script, text: appScript },
  '/table/dom.js': { type: script, text: domScript },
  '/table/cells.js': { type: script, text: cellsScript },
  '/table/editors.js': { type: script, text: editorsScript },
};
