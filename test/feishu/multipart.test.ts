import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanFileName } from '../../src/feishu/index.ts';
import { createFormBuffer } from '../../src/feishu/multipart.ts';

async function parsed(form: { contentType: string; content: Uint8Array }) {
  const response = new Response(Buffer.from(form.content), { headers: { 'content-type': form.contentType } });
  return response.formData();
}

describe('a form in our own bytes', () => {
  it('is read by another implementation as what went in, for any bytes and any clean name', async () => {
    const anyName = fc.string({ unit: 'grapheme', maxLength: 300 }).map(cleanFileName);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), anyName, fc.nat(), async (bytes, name, checksum) => {
        const form = createFormBuffer(bytes.length + 10, 'gridloom-test-boundary');
        form.file.set(bytes);
        const read = await parsed(form.seal({ file_name: name, size: bytes.length, checksum }, name, bytes.length));
        const file = read.get('file') as File;
        expect(new Uint8Array(await file.arrayBuffer())).toEqual(Uint8Array.from(bytes));
        expect(file.name).toBe(name);
        expect(read.get('file_name')).toBe(name);
        expect([read.get('size'), read.get('checksum')]).toEqual([String(bytes.length), String(checksum)]);
      }),
      { numRuns: 200 },
    );
  });

  it('serves one part after the other from the same memory', async () => {
    const form = createFormBuffer(8, 'gridloom-test-boundary');
    form.file.set(new TextEncoder().encode('longpart'));
    expect(await ((await parsed(form.seal({ seq: 0 }, 'v', 8))).get('file') as File).text()).toBe('longpart');
    form.file.set(new TextEncoder().encode('end'));
    const last = await parsed(form.seal({ seq: 1, upload_id: 'much longer than before' }, 'v', 3));
    expect(await (last.get('file') as File).text()).toBe('end');
  });
});

describe('a clean file name', () => {
  it('is short enough, free of what breaks a header, never empty, and clean already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (name) => {
        const clean = cleanFileName(name);
        expect(clean.length).toBeGreaterThan(0);
        expect(clean.length).toBeLessThanOrEqual(250);
        expect(clean).not.toMatch(/[\p{Cc}"'\\/]/u);
        expect(cleanFileName(clean)).toBe(clean);
      }),
    );
  });
});
