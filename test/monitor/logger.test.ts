import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVirtualClock, Secret } from '../../src/kernel/index.ts';
import { createLogger } from '../../src/monitor/index.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gridloom-log-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const secrets = [
  new Secret('sk-kie-0123456789abcdef'),
  new Secret('app"secret\\with+odd/chars=='),
  new Secret('push-token-77'),
  new Secret('20261130999'),
];
const open = (options: Partial<Parameters<typeof createLogger>[0]> = {}) =>
  createLogger({ directory, level: 'debug', clock: createVirtualClock(), secrets, ...options });
const read = (): string =>
  readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), 'utf8'))
    .join('');

describe('logger', () => {
  it('writes one JSON object a line: time, level, fixed message, fields of the line and of its parents', () => {
    const logger = open();
    logger.child({ executionId: 'e1' }).info('node succeeded', { node: 'draw', ms: 12 });
    expect(JSON.parse(read())).toEqual({
      level: 'info',
      time: '2026-01-01T00:00:00.000Z',
      executionId: 'e1',
      node: 'draw',
      ms: 12,
      msg: 'node succeeded',
    });
    logger.close();
  });

  it('P174 shows none of the secrets in use, wherever they stand and however they are encoded', () => {
    const logger = open();
    const late = new Secret('tenant-token-later-1');
    logger.register(late);
    for (const secret of [...secrets, late]) {
      const value = secret.reveal();
      logger.info(`message ${value}`, {
        text: `before ${value} after`,
        nested: { deep: [{ value }] },
        headers: { Authorization: `Bearer ${value}` },
        url: `https://x.local/?key=${encodeURIComponent(value)}`,
        encoded: Buffer.from(value).toString('base64'),
        secret,
        error: Object.assign(new Error(`refused: ${value}`, { cause: new Error(value) }), {
          config: { data: value, headers: { token: value } },
        }),
      });
      logger.child({ key: value }).error('child');
    }
    const text = read();
    for (const secret of [...secrets, late]) {
      expect(text).not.toContain(secret.reveal());
      expect(text).not.toContain(encodeURIComponent(secret.reveal()));
      expect(text).not.toContain(JSON.stringify(secret.reveal()).slice(1, -1));
    }
    for (const line of text.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it('P174 blacks out signed links, bearer tokens and phone numbers that nobody registered', () => {
    const logger = open();
    logger.warn('download failed', {
      url: 'https://cdn.local/v.mp4?X-Amz-Signature=abcdef0123&width=10&auth_key=1700-0-0-ffff',
      words: '联系 13812345678',
      header: 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x',
      sizeBytes: 13_812_345_678,
    });
    const text = read();
    expect(text).not.toMatch(/abcdef0123|ffff|"联系 138|eyJhbGci/);
    expect(text).toContain('width=10');
    expect(JSON.parse(text)).toMatchObject({ sizeBytes: 13_812_345_678 });
  });

  it('P172 has the fatal line on disk at once, right after a 100 KB line', () => {
    const logger = open();
    logger.info('large', { lines: Array.from({ length: 50 }, () => 'x'.repeat(2_000)) });
    logger.error('fatal: cannot go on', { attemptId: 'a1', taskId: 't1' });
    const lines = readFileSync(join(directory, 'gridloom.log'), 'utf8').trim().split('\n');
    expect(lines.at(-1)).toContain('"taskId":"t1"');
    expect(lines[0]?.length).toBeGreaterThan(100_000);
  });

  it('rotates by size, keeps the newest files, and loses no line in between', () => {
    const logger = open({ maxFileBytes: 2_000, keepFiles: 3 });
    for (let index = 0; index < 120; index += 1) logger.info('line', { index });
    const names = readdirSync(directory).sort();
    expect(names).toEqual(['gridloom.log', 'gridloom.log.1', 'gridloom.log.2', 'gridloom.log.3']);
    const indexes = [...names]
      .reverse()
      .flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n'))
      .map((line) => (JSON.parse(line) as { index: number }).index);
    const [first = 0] = indexes;
    expect(indexes).toEqual(Array.from({ length: 120 - first }, (_, index) => first + index));
  });

  it('goes on with an existing file after a restart, readable by the owner alone', () => {
    open().info('first');
    open().info('second');
    expect(read().trim().split('\n')).toHaveLength(2);
    expect(statSync(join(directory, 'gridloom.log')).mode & 0o777).toBe(0o600);
  });

  it('never throws, whatever it is given', () => {
    const logger = open({ level: 'info' });
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(() => {
      logger.info('odd', {
        loop,
        big: 10n,
        fn: () => 1,
        symbol: Symbol('s'),
        bytes: new Uint8Array(5),
        none: undefined,
      });
      logger.debug('not written');
    }).not.toThrow();
    expect(read()).not.toContain('not written');
  });
});
