import { fail, ok, type Result } from '../kernel/index.ts';

/** Where a base is named: its own token, or the wiki page that holds it (to be resolved by `resolveBase`). */
export interface BaseLocation {
  readonly kind: 'base' | 'wiki';
  readonly token: string;
}

/** A table as configured; without `base` it lies in the common one. */
export interface TableLocation {
  readonly base?: BaseLocation;
  readonly tableId: string;
}

const tokenPattern = /^[A-Za-z0-9_-]{6,}$/;
const tablePattern = /^tbl[A-Za-z0-9]+$/;
const copyAgain = 'open the data table in the browser and copy its address again';

/** Reads what a person may put for a base: its token, `base/TOKEN`, `wiki/NODE`, a base link, a wiki link. The fault says what to do instead. */
export function parseBaseSetting(text: string): Result<BaseLocation, string> {
  const clean = tidy(text);
  if (clean === '') return fail('the base is not named; give its token or its link');
  if (isLink(clean)) {
    const link = parseLink(clean);
    return link.ok ? ok(link.value.base) : link;
  }
  const placed = /^(base|wiki)\/([A-Za-z0-9_-]{6,})$/.exec(clean);
  if (placed !== null) return ok({ kind: placed[1] === 'wiki' ? 'wiki' : 'base', token: placed[2] ?? '' });
  if (/^tbl/.test(clean)) return fail(`"${clean}" is the id of a table; the base's token stands before it in the link`);
  if (!tokenPattern.test(clean)) return fail(`"${clean}" is neither a base token nor a link to a base`);
  return ok({ kind: clean.startsWith('wik') ? 'wiki' : 'base', token: clean });
}

/** Reads what a person may put for a table: `TABLE_ID`, `APP_TOKEN/TABLE_ID`, or the link that the browser shows. */
export function parseTableSetting(text: string): Result<TableLocation, string> {
  const clean = tidy(text);
  if (clean === '') return fail('the table is not named; give TABLE_ID, APP_TOKEN/TABLE_ID or its link');
  if (isLink(clean)) {
    const link = parseLink(clean);
    if (!link.ok) return link;
    if (link.value.tableId === undefined)
      return fail(`the link names no table ("table=tbl…" is missing): ${copyAgain}`);
    const table = checkedTableId(link.value.tableId);
    return table.ok ? ok({ base: link.value.base, tableId: table.value }) : table;
  }
  const parts = clean.split('/');
  if (parts.length > 2) return fail(`"${clean}" is no table; write TABLE_ID or APP_TOKEN/TABLE_ID`);
  const table = checkedTableId(parts.at(-1) ?? '');
  if (!table.ok || parts.length === 1) return table.ok ? ok({ tableId: table.value }) : table;
  const base = parseBaseSetting(parts[0] ?? '');
  return base.ok ? ok({ base: base.value, tableId: table.value }) : base;
}

/** Only `tbl…` is a data table; other prefixes are pages, dashboards, documents and blocks of a base. */
function checkedTableId(text: string): Result<string, string> {
  const id = text.replace(/[#?&].*$/, '').trim();
  if (tablePattern.test(id)) return ok(id);
  if (/^(wbp|ldx|blk|dsh|frm|pge|wkf)/i.test(id)) {
    return fail(`"${id}": this link opens a page/document, ${copyAgain} (a table's id begins with "tbl")`);
  }
  if (/^vew/.test(id)) return fail(`"${id}" is the id of a view; a table's id begins with "tbl"`);
  return fail(`"${id}" is no table id; it begins with "tbl": ${copyAgain}`);
}

function isLink(text: string): boolean {
  return /^https?:\/\//i.test(text) || /^[\w.-]+\.(feishu\.cn|larksuite\.com|larkoffice\.com)\//i.test(text);
}

function parseLink(
  text: string,
): Result<{ readonly base: BaseLocation; readonly tableId: string | undefined }, string> {
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return fail(`"${text}" is not a link that can be read: ${copyAgain}`);
  const url = new URL(address);
  const path = url.pathname.split('/').filter((part) => part !== '');
  const place = path.findIndex((part) => part === 'base' || part === 'wiki');
  const token = path.at(place + 1) ?? '';
  if (path.includes('share') || path.includes('form')) {
    return fail(`the link opens a shared form or view, not the table itself: ${copyAgain}`);
  }
  if (place < 0 || !tokenPattern.test(token)) {
    return fail(`the link leads to no base (".../base/…" or ".../wiki/…" is missing): ${copyAgain}`);
  }
  const inFragment = /[?&#]table=([^&#]+)/.exec(url.hash)?.[1];
  const tableId = url.searchParams.get('table') ?? inFragment;
  return ok({
    base: { kind: path[place] === 'wiki' ? 'wiki' : 'base', token },
    tableId: tableId === '' ? undefined : tableId,
  });
}

/** Trims, and takes away the quotes and brackets that come with copying. */
function tidy(text: string): string {
  return text
    .replace(/[\u200b-\u200d\ufeff]/g, '')
    .trim()
    .replace(/^["'<「“]+|["'>」”]+$/g, '')
    .trim();
}
