import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classifyAddress,
  encodeMultipart,
  maskText,
  normaliseBaseUrl,
  parseLosslessJson,
  parseRetryAfter,
  redactUrl,
} from '../../src/providers/http/index.ts';
import { fuzzRuns } from './fuzz-runs.ts';

const nowMs = Date.parse('2026-11-30T12:00:00Z');

describe('P116 Retry-After', () => {
  it.each([
    ['30', 30_000],
    ['0', 0],
    ['86400', 86_400_000],
    ['1.5', 1_500],
    ['999999999', 30 * 86_400_000],
    ['Mon, 30 Nov 2026 12:01:00 GMT', 60_000],
    ['Mon, 30 Nov 2026 11:00:00 GMT', 0],
    ['abc', undefined],
    ['-5', undefined],
    ['', undefined],
    ['1e9', undefined],
    [null, undefined],
    ['NaN', undefined],
  ])('%s is %s ms', (value, expected) => {
    expect(parseRetryAfter(value, nowMs)).toBe(expected);
  });

  it('is never negative and never longer than a month, whatever is sent', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const parsed = parseRetryAfter(value, nowMs) ?? 0;
        expect(parsed >= 0 && parsed <= 30 * 86_400_000).toBe(true);
      }),
      fuzzRuns(100),
    );
  });
});

describe('P077 JSON without losing a digit', () => {
  it.each([
    ['{"id":359690885259366}', { id: 359_690_885_259_366 }],
    ['{"id":9007199254740993}', { id: '9007199254740993' }],
    ['{"id":"359690885259366"}', { id: '359690885259366' }],
    ['{"price":0.1,"list":[-9007199254740993]}', { price: 0.1, list: ['-9007199254740993'] }],
    ['\uFEFF \n\n{"a":1e30}', { a: 1e30 }],
  ])('%s', (text, value) => {
    expect(parseLosslessJson(text)).toEqual({ value });
  });

  it('gives nothing for what is not JSON', () => {
    for (const text of ['', '<html>', '{"a":', 'undefined']) expect(parseLosslessJson(text)).toBeUndefined();
  });
});

describe('multipart', () => {
  it('P037 keeps Chinese names as they are and drops only what breaks the header', () => {
    const form = encodeMultipart(
      [{ name: 'file', value: Buffer.from('x'), fileName: '测试——"终\r\n版"🎬.mp4', contentType: 'video/mp4' }],
      'b1',
    );
    expect(Buffer.from(form.bytes).toString()).toBe(
      '--b1\r\nContent-Disposition: form-data; name="file"; filename="测试——_终__版_🎬.mp4"\r\nContent-Type: video/mp4\r\n\r\nx\r\n--b1--\r\n',
    );
    expect(form.contentType).toBe('multipart/form-data; boundary=b1');
  });

  it('P066 can be sent again: it is bytes, and the platform reads it back', async () => {
    const form = encodeMultipart(
      [
        { name: 'a', value: '1' },
        { name: 'f', value: Buffer.from([0, 255]), fileName: 'f.bin' },
      ],
      'b2',
    );
    for (let round = 0; round < 2; round += 1) {
      const data = await new Response(Buffer.from(form.bytes), {
        headers: { 'content-type': form.contentType },
      }).formData();
      expect(data.get('a')).toBe('1');
      expect(new Uint8Array(await (data.get('f') as File).arrayBuffer())).toEqual(new Uint8Array([0, 255]));
    }
  });
});

describe('P174 what may be written down', () => {
  it('shows addresses without queries', () => {
    expect(redactUrl('https://u:p@a.example/x?Signature=abc#f')).toBe('https://a.example/x?…');
  });

  it('masks keys, tokens and signed queries in a vendor’s words', () => {
    const text = 'Bearer abcdefghijk sk-12345678901234 see https://a.example/x?sig=12345678 api_key: ABCDEFGH12';
    expect(maskText(text)).not.toMatch(/abcdefghijk|12345678|ABCDEFGH12/);
    expect(maskText('the key MY-ODD-KEY-1 is bad', ['MY-ODD-KEY-1'])).toBe('the key [secret] is bad');
  });

  it('is one line of bounded length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 5_000, unit: 'binary' }), (text) => {
        const masked = maskText(text);
        expect(Array.from(masked).length).toBeLessThanOrEqual(501);
        expect(masked).not.toMatch(/[\r\n]/);
      }),
      fuzzRuns(100),
    );
  });
});

describe('addresses', () => {
  it.each([
    ['https://v.example/', 'https://v.example'],
    ['https://v.example/v1', 'https://v.example'],
    ['https://v.example/v1/', 'https://v.example'],
    ['https://v.example/gw/v1//', 'https://v.example/gw'],
    ['https://v.example?x=1', 'https://v.example'],
  ])('P024 brings %s into shape', (given, base) => {
    expect(normaliseBaseUrl(given, ['/v1'])).toBe(base);
  });

  it.each([
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ['100.64.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.1', 'public'],
    ['198.19.255.255', 'fake-ip'],
    ['::1', 'private'],
    ['::ffff:127.0.0.1', 'private'],
    ['::ffff:8.8.8.8', 'public'],
    ['fe80::1%eth0', 'private'],
    ['2002:7f00:1::', 'private'],
    ['not an address', 'private'],
  ])('%s is %s', (address, expected) => {
    expect(classifyAddress(address)).toBe(expected);
  });
});
