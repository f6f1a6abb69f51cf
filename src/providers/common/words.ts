import type { FailureKind } from '../../contract/index.ts';

/**
 * Some vendors use one code for many faults and tell them apart in words only (kie: 400, 422 and 501 each cover policy,
 * bad input and failed fetches). This table, at the edge where vendor words end, is the only place that reads them.
 */
const phrases: readonly (readonly [RegExp, FailureKind])[] = [
  [
    /(output|generated|result|video|audio).{0,40}(sensitive|moderat|polic|unsafe|nsfw|filtered)|ai ?media.?filter/i,
    'output-moderated',
  ],
  [
    /sensitive|content.?polic|moderat|prohibited|nsfw|safety|violat|flagged|copyright|real person|public figure|敏感|违规|审核|涉黄|不合规/i,
    'content-policy',
  ],
  [
    /(fail|unable|could not|cannot|can't|error|timeout).{0,40}(fetch|download|access|load|read).{0,40}(image|picture|url|file|media)|(image|url|file).{0,40}(download|fetch).{0,20}fail|image.{0,20}(not accessible|403|404)/i,
    'input-fetch',
  ],
  [/(insufficient|not enough|no).{0,20}(credit|balance|quota|fund)|arrearage|overdue|余额不足|欠费/i, 'balance'],
  [/rate.?limit|too many requests|too frequent|frequency|限流|频率/i, 'rate-limit'],
  [/overload|high demand|busy|capacity|server is under|繁忙/i, 'overload'],
  [
    /exceed|too long|max(imum)? length|must be|is required|required field|not supported|unsupported|invalid (param|input|image|aspect|duration|format)/i,
    'invalid-input',
  ],
];

/** The kind that a vendor's sentence names, or undefined when it names none. */
export function kindOfWords(message: string): FailureKind | undefined {
  return phrases.find(([pattern]) => pattern.test(message))?.[1];
}
