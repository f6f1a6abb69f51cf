/* eslint-disable @typescript-eslint/no-deprecated -- `link` is a key of Feishu's cells */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isEmptyCell,
  readAttachments,
  readCheckbox,
  readDateMs,
  readNumber,
  readOptions,
  readPersons,
  readSelect,
  readText,
} from '../../src/bitable/codec-read.ts';
import {
  columnsThatDiffer,
  maxTextChars,
  sameCell,
  writeAttachments,
  writeDateMs,
  writeNumber,
  writeText,
  writeYuan,
} from '../../src/bitable/codec-write.ts';
import { normalizeName, normalizeWord } from '../../src/bitable/words.ts';
import type { Json } from '../../src/kernel/index.ts';

describe('reading cells', () => {
  it.each<[string, Json]>([
    ['one segment with a newline', [{ text: '提交\n', type: 'text' }]],
    [
      'two segments',
      [
        { text: '提', type: 'text' },
        { text: '交', type: 'text' },
      ],
    ],
    ['a plain string', '提交'],
    ['outer spaces of every kind', '  提交\u3000\u00a0'],
    ['a zero-width space', '提交\u200b'],
    ['a zero-width space inside', '提\u200b交\ufeff'],
  ])('P001 %s reads as 提交', (_name, cell) => {
    expect(normalizeWord(readText(cell))).toBe('提交');
  });

  it('P002 a formula cell gives the value one level deeper', () => {
    expect(readText({ type: 1, value: [{ text: '提交', type: 'text' }] })).toBe('提交');
    expect(readNumber({ type: 2, value: [3.5] })).toBe(3.5);
    expect(readSelect({ type: 3, value: ['甲'] })).toBe('甲');
  });

  it.each<[string, Json, string]>([
    [
      'mention and url segments',
      [
        { type: 'mention', text: '@张三' },
        { type: 'url', text: ' 看 ', link: 'https://x' },
      ],
      '@张三 看 ',
    ],
    ['an email', [{ type: 'url', text: 'a@b.cn', link: 'mailto:a@b.cn' }], 'a@b.cn'],
    ['a link', { text: '名', link: 'https://x' }, '名'],
    ['a location', { location: '1,2', name: '门', full_address: '省市门' }, '省市门'],
    ['several options', ['甲', '乙'], '甲, 乙'],
    ['persons', [{ id: 'ou_1', name: '张三' }], '张三'],
    ['a link to rows', { link_record_ids: ['r1', 'r2'] }, 'r1, r2'],
    ['a number', 8, '8'],
    ['a checkbox', true, 'true'],
  ])('reads the text of %s', (_name, cell, text) => {
    expect(readText(cell)).toBe(text);
  });

  it('takes an absent key, null and an empty list for an empty cell', () => {
    for (const cell of [undefined, null, '', ' ', [], [{ type: 'text', text: '' }]])
      expect(isEmptyCell(cell)).toBe(true);
    for (const cell of [0, false, '甲', [{ file_token: 'a' }], ['甲']]) expect(isEmptyCell(cell)).toBe(false);
  });

  it('reads files, persons, options, dates and checkboxes, and nothing from nonsense', () => {
    expect(readAttachments([{ file_token: 't', name: 'a.png', size: '12' }, { name: 'x' }, 7])).toEqual([
      { fileToken: 't', name: 'a.png', sizeBytes: 12 },
    ]);
    expect(readPersons({ id: 'ou_1', name: '张' })).toEqual([{ id: 'ou_1', name: '张' }]);
    expect(readPersons([{ id: 'ou_1' }])).toEqual([{ id: 'ou_1' }]);
    expect(readOptions(['甲', '乙'])).toEqual(['甲', '乙']);
    expect(readDateMs(1_774_715_400_000)).toBe(1_774_715_400_000);
    expect(readCheckbox(undefined)).toBe(false);
    expect(readCheckbox(true)).toBe(true);
    expect(readNumber([{ text: ' 12.5 ', type: 'text' }])).toBe(12.5);
    expect(readNumber('¥3')).toBeUndefined();
  });

  it('never throws, whatever a cell holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const cell = value as Json;
        readText(cell);
        readNumber(cell);
        readAttachments(cell);
        readPersons(cell);
        isEmptyCell(cell);
      }),
    );
  });

  it('matches names of columns after NFKC and trimming only', () => {
    expect(normalizeName(' 成本（元）\n')).toBe(normalizeName('成本(元)'));
    expect(normalizeName('操 作')).not.toBe(normalizeName('操作'));
  });
});

describe('writing cells', () => {
  it.each(['0.35', '¥0.35', Number.NaN, Number.POSITIVE_INFINITY, null, undefined])(
    'P011 leaves the cell untouched for %s',
    (value) => {
      expect(writeNumber(value)).toBeUndefined();
    },
  );

  it('P011 sends finite numbers as they are', () => {
    expect(writeNumber(1e-7)).toBe(1e-7);
    expect(writeYuan(1_234_560)).toBe(1.23456);
  });

  it('P014 writes dates in 13-digit milliseconds', () => {
    expect(writeDateMs(Date.UTC(2026, 2, 28, 16, 30))).toBe(1_774_715_400_000);
  });

  it('cuts a text at the cell limit between visible characters, with a mark', () => {
    const family = '👨‍👩‍👧‍👦';
    const text = writeText(family.repeat(20_000)) ?? '';
    expect(text.length).toBeLessThanOrEqual(maxTextChars);
    expect(text.endsWith('（内容过长，已截断）')).toBe(true);
    expect(text.replace(/\n….*$/u, '').replaceAll(family, '')).toBe('');
    expect(writeText('𠮷🎬')).toBe('𠮷🎬');
    expect(writeText('')).toBeNull();
  });

  it('P176 writes files as a list of objects, at most 100 of them', () => {
    expect(writeAttachments(['a', 'b'])).toEqual([{ file_token: 'a' }, { file_token: 'b' }]);
    expect(writeAttachments([])).toBeNull();
    expect(writeAttachments(Array.from({ length: 130 }, (_value, index) => `t${index}`))).toHaveLength(100);
  });

  it('knows a cell as read again from the one that was written', () => {
    expect(sameCell([{ type: 'text', text: '好' }], '好')).toBe(true);
    expect(sameCell(undefined, null)).toBe(true);
    expect(sameCell([{ file_token: 'a', name: 'x' }], [{ file_token: 'a' }])).toBe(true);
    expect(sameCell([{ file_token: 'a' }], [{ file_token: 'b' }])).toBe(false);
    expect(columnsThatDiffer({ 状态: '完成' }, { 状态: '完成', 成本: 1 })).toEqual(['成本']);
  });
});
