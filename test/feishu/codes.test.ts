import { describe, expect, it } from 'vitest';
import { isDone, ruleOf } from '../../src/feishu/codes.ts';
import { failureOfAnswer } from '../../src/feishu/failure.ts';
import { redact } from '../../src/feishu/sdk-logger.ts';
import { Secret } from '../../src/kernel/index.ts';

const classOf = (code: number, httpStatus = 200) =>
  `${ruleOf(code, httpStatus).class} ${ruleOf(code, httpStatus).outcome}`;

describe('the table of codes', () => {
  it('says the same of a code under every HTTP status', () => {
    for (const code of [1254290, 1254291, 1254043, 91403, 99991403, 99991663, 1061045]) {
      expect(new Set([200, 400, 403, 404, 429, 500].map((status) => classOf(code, status))).size).toBe(1);
    }
  });

  it('tells throttle, conflict, quota, rights, rows that are gone, columns and files apart', () => {
    const wanted = {
      'throttled refused': [99991400, 1254290, 1254112, 1061045, 230020, 11232],
      'conflict refused': [1254291, 1254607],
      'quota refused': [99991403],
      'credential refused': [10014, 99991543, 99991663, 1061005],
      'permission refused': [91403, 99991672, 1254302, 1061004, 1069603, 230002],
      'gone refused': [1254043],
      'config refused': [1254040, 1254041, 1254003, 91402],
      'schema refused': [1254045, 1254018],
      'foreign-attachment refused': [1254303, 1254069],
      'too-large refused': [1254130, 1061043, 1254104],
      'invalid refused': [1254015, 1254060, 1254064, 9499, 1062009],
    };
    for (const [words, codes] of Object.entries(wanted)) {
      for (const code of codes) expect([code, classOf(code)]).toEqual([code, words]);
    }
  });

  it('never calls a write done or not done where the server cannot know: such outcomes are unknown', () => {
    for (const code of [1254002, 1254200, 1255001, 1255040, 2200, 1061001, 5000, 777]) {
      expect([code, classOf(code)]).toEqual([code, 'retry unknown']);
    }
    for (const status of [500, 502, 503, 504]) expect(classOf(0, status)).toBe('retry unknown');
  });

  it('judges a code that nobody has listed by its HTTP status', () => {
    expect(classOf(777, 429)).toBe('throttled refused');
    expect(classOf(777, 403)).toBe('permission refused');
    expect(classOf(777, 401)).toBe('credential refused');
    expect(classOf(777, 413)).toBe('too-large refused');
    expect(classOf(777, 400)).toBe('invalid refused');
    expect(classOf(0, 404)).toBe('config refused');
    expect(classOf(0, 301)).toBe('config refused');
  });

  it('takes only 0 and "unchanged" for done', () => {
    expect([0, 1254606, 1254607].map(isDone)).toEqual([true, true, false]);
  });
});

describe('the wait that an answer asks for', () => {
  const waitOf = (headers: Record<string, string>) =>
    failureOfAnswer('x', { httpStatus: 429, headers: new Headers(headers), body: { code: 99991400 } })?.retryAfterMs;

  it('is the gateway’s reset in seconds, else retry-after in seconds or as a date; nonsense is no wait', () => {
    expect(waitOf({ 'x-ogw-ratelimit-reset': '7', 'retry-after': '1' })).toBe(7_000);
    expect(waitOf({ 'retry-after': '2' })).toBe(2_000);
    const date = 'Mon, 01 Jun 2026 00:00:00 GMT';
    expect(waitOf({ 'retry-after': 'Mon, 01 Jun 2026 00:00:30 GMT', date })).toBe(30_000);
    expect(waitOf({ 'retry-after': 'Mon, 01 Jun 2026 00:00:30 GMT' })).toBeUndefined();
    for (const text of ['', '-1', 'soon']) expect(waitOf({ 'x-ogw-ratelimit-reset': text })).toBeUndefined();
  });
});

describe('what the SDK hands to its logger', () => {
  it('loses secrets, tokens and tickets wherever they stand', () => {
    const text = 'app_secret=hunter2secret Bearer t-g1044abcdefghij {"token":"abc123xyz"} wss://h/ws?ticket=T1CKET&x=1';
    const clean = redact(text, [new Secret('hunter2secret')]);
    for (const secret of ['hunter2secret', 't-g1044abcdefghij', 'abc123xyz', 'T1CKET'])
      expect(clean).not.toContain(secret);
    expect(clean).toContain('wss://h/ws');
  });
});
