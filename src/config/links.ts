import { fail, ok, type Result } from '../kernel/index.ts';

/** A base by its own token, or by the wiki page that shows it: the page's node must be resolved before use. */
export type BaseRef =
  | { readonly kind: 'base'; readonly appToken: string }
  | { readonly kind: 'wiki'; readonly nodeToken: string };

export interface TableLink {
  readonly base?: BaseRef;
  readonly tableId: string;
}

const tokenPattern = /^[A-Za-z0-9]{8,}$/;
/** What other ids in `?table=` open; they look like tables to whoever copies them. */
const notTables: readonly (readonly [RegExp, string])[] = [
  [/^wbp/, 'an app page'],
  [/^ldx/, 'an embedded document'],
  [/^blk/, 'a block (dashboard or form)'],
];

/** Reads `BITABLE_APP_TOKEN`: a token, a base link (`…/base/TOKEN?…`) or a wiki link (`…/wiki/NODE?…`). */
export function readAppLink(written: string): Result<BaseRef, string> {
  const link = asUrl(written);
  const [, place, token = ''] = /\/(base|wiki)\/([A-Za-z0-9]+)/.exec(link?.pathname ?? '') ?? [];
  if (place === 'base') return ok({ kind: 'base', appToken: token });
  if (place === 'wiki') return ok({ kind: 'wiki', nodeToken: token });
  if (link === undefined && tokenPattern.test(written)) return ok({ kind: 'base', appToken: written });
  return fail('write the token of the base, or paste the link that the browser shows when the base is open');
}

/** Reads a table variable: `tblX`, `APP_TOKEN/tblX`, or the link of an open table. */
export function readTableLink(written: string): Result<TableLink, string> {
  const link = asUrl(written);
  if (link !== undefined) {
    const base = readAppLink(written);
    const table = readTableId(link.searchParams.get('table') ?? '');
    if (!table.ok || !base.ok) return fail(table.ok ? 'this is no link to a base or wiki page' : table.failure);
    return ok({ base: base.value, tableId: table.value });
  }
  const [first = '', second] = written.split('/');
  const table = readTableId(second ?? first);
  if (!table.ok) return table;
  if (second === undefined) return ok({ tableId: table.value });
  const base = readAppLink(first);
  return base.ok ? ok({ base: base.value, tableId: table.value }) : base;
}

function readTableId(written: string): Result<string, string> {
  const id = written.trim().replace(/[#&?].*$/, '');
  if (/^tbl[A-Za-z0-9]+$/.test(id)) return ok(id);
  const other = notTables.find(([pattern]) => pattern.test(id))?.[1];
  if (other !== undefined) return fail(`this opens ${other}; open the data table itself and copy its id (tbl…) again`);
  return fail('write the table id (tbl…), or APP_TOKEN/TABLE_ID, or the link of the open table');
}

function asUrl(written: string): URL | undefined {
  return /^https?:\/\//.test(written) && URL.canParse(written) ? new URL(written) : undefined;
}
