import { describe, expect, it } from 'vitest';
import { parseBaseSetting, parseTableSetting } from '../../src/feishu/index.ts';

const link = (query: string, place = 'base/bascnAbc123') => `https://studio.feishu.cn/${place}${query}`;

describe('a table setting', () => {
  it('is a bare id, an id behind its base, or a link', () => {
    expect(parseTableSetting('tblAbc')).toEqual({ ok: true, value: { tableId: 'tblAbc' } });
    const base = { kind: 'base', token: 'bascnAbc123' };
    expect(parseTableSetting(' bascnAbc123/tblAbc\n')).toEqual({ ok: true, value: { base, tableId: 'tblAbc' } });
    expect(parseTableSetting(link('?table=tblAbc&view=vewY'))).toEqual({
      ok: true,
      value: { base, tableId: 'tblAbc' },
    });
    expect(parseTableSetting(link('?table=tblAbc', 'wiki/WnodeX1'))).toEqual({
      ok: true,
      value: { base: { kind: 'wiki', token: 'WnodeX1' }, tableId: 'tblAbc' },
    });
    expect(parseTableSetting('studio.larksuite.com/base/bascnAbc123?table=tblAbc').ok).toBe(true);
  });

  it('P016 that opens a page or a document is refused with what to do; a stray # is trimmed', () => {
    for (const id of ['wbpX', 'ldxX', 'blkX']) {
      for (const text of [link(`?table=${id}`), id, `bascnAbc123/${id}`]) {
        const parsed = parseTableSetting(text);
        expect(parsed.ok ? '' : parsed.failure).toMatch(
          /opens a page\/document, open the data table .* copy its address/,
        );
      }
    }
    for (const text of ['tblX#', link('?table=tblX#'), link('?view=vewY&table=tblX#share')]) {
      expect(parseTableSetting(text)).toMatchObject({ ok: true, value: { tableId: 'tblX' } });
    }
  });

  it('that is anything else is refused, each with its own words', () => {
    const faults = [
      ['', 'not named'],
      ['vewAbc', 'id of a view'],
      ['whatever', 'begins with "tbl"'],
      ['a/b/c', 'write TABLE_ID or APP_TOKEN/TABLE_ID'],
      [link(''), 'names no table'],
      [link('?table=tblX', 'docx/Abc123456'), 'leads to no base'],
      [link('', 'share/base/form/shrcnAbc'), 'shared form'],
      ['tblA/tblB', 'id of a table'],
    ] as const;
    for (const [text, words] of faults) {
      const parsed = parseTableSetting(text);
      expect([text, parsed.ok ? 'accepted' : parsed.failure]).toEqual([text, expect.stringContaining(words)]);
    }
  });
});

describe('a base setting', () => {
  it('is a token, a base link or a wiki link, with what copying adds taken off', () => {
    expect(parseBaseSetting('"bascnAbc123"')).toEqual({ ok: true, value: { kind: 'base', token: 'bascnAbc123' } });
    expect(parseBaseSetting(link('?table=tblX'))).toEqual({ ok: true, value: { kind: 'base', token: 'bascnAbc123' } });
    expect(parseBaseSetting('wiki/WnodeX1')).toEqual({ ok: true, value: { kind: 'wiki', token: 'WnodeX1' } });
    expect(parseBaseSetting(link('', 'wiki/WnodeX1'))).toEqual({ ok: true, value: { kind: 'wiki', token: 'WnodeX1' } });
  });

  it('is refused when it is a table, a sentence, or nothing', () => {
    for (const text of ['tblAbcdef', 'my base', '', 'https://']) expect(parseBaseSetting(text).ok).toBe(false);
  });
});
