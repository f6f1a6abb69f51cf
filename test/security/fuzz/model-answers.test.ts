import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ParseDefinition } from '../../../src/contract/index.ts';
import { parseAnswer } from '../../../src/engine/skill/parse-answer.ts';
import { fuzzRuns } from '../../providers/fuzz-runs.ts';

const sections: ParseDefinition = {
  as: 'sections',
  sections: { script: { mark: '[[SCRIPT]]', min_chars: 2 }, keywords: { mark: '[[KEYWORDS]]', max_chars: 50 } },
};
const ways: readonly (ParseDefinition | undefined)[] = [
  { as: 'json' },
  { as: 'text', max_chars: 100 },
  sections,
  undefined,
];

/** What models write, in any order. */
const piece = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '｛',
    '｝',
    '：',
    '，',
    '“',
    '”',
    '``',
    '`',
    '```json\n',
    '\n```',
    '\n',
    ' ',
    '\\',
    '\\u00',
  ],
  ...[
    '<think>',
    '</think>',
    '<THINKING>',
    '[[SCRIPT]]',
    '[[/SCRIPT]]',
    '【KEYWORDS】',
    '**[[keywords]]**:',
    'a',
    '1',
    'null',
    '镜头',
  ],
);
const answer = fc.oneof(
  fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.jsonValue().map((value) => `好的：\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\``),
);
const finish = fc.constantFrom('stop', 'length', 'other', '');

describe('fuzz: answers of models', () => {
  it('are a value or a reason in words, never an exception', () => {
    fc.assert(
      fc.property(answer, finish, fc.constantFrom(...ways), (text, ended, way) => {
        const read = parseAnswer(way, text, ended);
        if (read.ok) expect(Object.keys(read.value).length).toBeGreaterThanOrEqual(0);
        else expect(read.failure.every((reason) => reason.length > 3)).toBe(true);
        // Whatever was cut off is never taken for whole.
        if (ended === 'length') expect(read.ok).toBe(false);
      }),
      fuzzRuns(500),
    );
  });

  it('that are valid JSON come back unchanged, whatever stands around them', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(object, fc.constantFrom('', '<think>{"a":[</think>\n'), (value, before) => {
        const text = `${before}${JSON.stringify(value)}`;
        // A tag inside the data itself is not told apart from the model's own.
        fc.pre(!/<\/?(think|thinking|reasoning)>/i.test(JSON.stringify(value)));
        expect(parseAnswer({ as: 'json' }, text, 'stop')).toEqual({
          ok: true,
          value: JSON.parse(JSON.stringify(value)) as unknown,
        });
      }),
      fuzzRuns(200),
    );
  });

  const busy: Readonly<Record<string, string>> = {
    'thinking tags that are never closed': '<think>'.repeat(30_000),
    'closing tags alone': '</think>'.repeat(30_000),
    stars: '*'.repeat(100_000),
    'opening brackets': '['.repeat(100_000),
    'spaced brackets': '[ '.repeat(50_000),
    'half marks': '[[SCRIPT '.repeat(20_000),
    'quotes and spaces': `{"a":"${`"${' '.repeat(1_000)}`.repeat(100)}`,
    commas: `{${', '.repeat(50_000)}`,
    fences: '```\n'.repeat(30_000),
    'deep nesting': `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    'deep objects': `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  };
  it.each(Object.entries(busy))('%s keep nobody busy', (_what, text) => {
    const startedMs = performance.now();
    for (const way of ways) {
      const read = parseAnswer(way, text, 'stop');
      // What is handed on can be written down: nothing in it nests without end.
      expect(JSON.stringify(read).length).toBeGreaterThan(0);
    }
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});
