import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as read from '../../../src/bitable/codec-read.ts';
import { maxTextChars, sameCell, writeAttachments, writeNumber, writeText } from '../../../src/bitable/codec-write.ts';
import type { Json } from '../../../src/kernel/index.ts';
import { fuzzRuns } from '../../providers/fuzz-runs.ts';

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('提交', ' 通过\u200b', '__proto__', 'constructor', '1e999', '-0', '９９'),
);
/** Cells in the shapes of the documents, with members of any kind in any of them. */
const { cell } = fc.letrec<{ cell: Json }>((tie) => ({
  cell: fc.oneof(
    { maxDepth: 4 },
    leaf as fc.Arbitrary<Json>,
    fc.array(tie('cell'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          'text',
          'type',
          'value',
          'file_token',
          'name',
          'size',
          'id',
          'link_record_ids',
          '__proto__',
          'link',
        ),
        fc.string({ maxLength: 5 }),
      ),
      tie('cell'),
      { maxKeys: 5 },
    ),
  ),
}));
const readers = [
  read.readText,
  read.readNumber,
  read.readSelect,
  read.readOptions,
  read.readCheckbox,
  read.readDateMs,
  read.readAttachments,
  read.readPersons,
  read.isEmptyCell,
] as const;

describe('fuzz: cells', () => {
  it('of any shape are read without an exception, into values of the right kind', () => {
    fc.assert(
      fc.property(cell, (value) => {
        for (const reader of readers) reader(value);
        expect(typeof read.readText(value)).toBe('string');
        const number = read.readNumber(value);
        expect(number === undefined || Number.isFinite(number)).toBe(true);
        for (const file of read.readAttachments(value)) expect(file.fileToken).not.toBe('');
        expect(typeof sameCell(value, null)).toBe('boolean');
      }),
      fuzzRuns(500),
    );
  });

  it('nested without end are read without an exception', () => {
    let value: Json = '提交';
    for (let depth = 0; depth < 50_000; depth += 1) value = depth % 2 === 0 ? [value] : { type: 1, value: [value] };
    for (const reader of readers) expect(() => reader(value)).not.toThrow();
  });

  it('are written only as the platform takes them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.anything(), fc.array(fc.string()), (text, value, tokens) => {
        const long = writeText(text.repeat(text.length > 20 ? 4_000 : 1));
        expect(long === null || (long.length <= maxTextChars && long.isWellFormed())).toBe(true);
        const number = writeNumber(value);
        expect(number === undefined || Number.isFinite(number)).toBe(true);
        const files = writeAttachments(tokens);
        expect(files === null || (Array.isArray(files) && files.length <= 100)).toBe(true);
      }),
      fuzzRuns(200),
    );
  });
});
