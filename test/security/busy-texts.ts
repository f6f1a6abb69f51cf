const chars = 100_000;
const repeat = (piece: string): string => piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);

/** Texts of a cell's greatest length that make a careless pattern look again and again. */
export const busyTexts: Readonly<Record<string, string>> = {
  spaces: repeat(' '),
  'spaces before a letter': `${repeat(' ')}x`,
  'full-width spaces': repeat('\u3000'),
  'a dash and spaces': `- ${repeat(' ')}{`,
  'line breaks': repeat('\n'),
  'line breaks and spaces': repeat('\n '),
  hashes: repeat('#'),
  'hashes and stars': repeat('#* -'),
  dots: repeat('.'),
  digits: repeat('1'),
  'numbered lines': repeat('1、'),
  braces: repeat('{'),
  'closed braces': repeat('{a}'),
  'addresses without end': repeat('https://a/'),
  'questions without answers': repeat('?key&token'),
  'words of keys': repeat('key key: '),
  'a bearer and nothing': repeat('Bearer '),
  quotes: repeat('"'),
  slashes: repeat('/'),
  'one word': repeat('a'),
  'many marks': repeat('!-'),
  families: repeat('👨‍👩‍👧‍👦'),
  'combining accents': `a${repeat('\u0301')}`,
};
