import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Answer, openWorld, type TestWorld } from './world.ts';

const key = { authorization: 'Bearer k' };
const png = `data:image/png;base64,${Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64')}`;

function chat(
  world: TestWorld,
  prompt: string,
  options: { pictures?: readonly string[]; extra?: object } = {},
): Promise<Answer> {
  const content = [
    { type: 'text', text: prompt },
    ...(options.pictures ?? []).map((url) => ({ type: 'image_url', image_url: { url } })),
  ];
  const body = { model: 'm', messages: [{ role: 'user', content }], ...options.extra };
  return world.call('POST', '/llm/v1/chat/completions', body, key);
}

const text = (answer: Answer): string => String(answer.at('choices.0.message.content'));

/** A shipped prompt with its variables filled in. */
async function shipped(name: string, values: Readonly<Record<string, string>>): Promise<string> {
  const file = await readFile(`config/prompts/${name}.md`, 'utf8');
  const body = file.slice(file.indexOf('\n---', 3) + 4);
  return body
    .replace(/\{\{#(\w+)\}\}([\s\S]*?)\{\{\/\1\}\}/g, (_whole, key_: string, inner: string) =>
      values[key_] === undefined ? '' : inner,
    )
    .replace(/\{\{(\w+)\}\}/g, (_whole, key_: string) => values[key_] ?? '');
}

describe('the chat model of the sandbox', () => {
  it('fills the marked sections of the shipped creator prompt, with as many shots as asked', async () => {
    const world = await openWorld();
    const prompt = await shipped('try-on-creator', {
      shot_count: '5',
      film_seconds: '10',
      product_notes: '红色碎花连衣裙',
    });
    const answer = text(await chat(world, prompt, { pictures: [png] }));
    expect(answer).toMatch(/\[\[IMAGE_PROMPT\]\][\s\S]{400,}\[\[\/IMAGE_PROMPT\]\]/);
    expect(answer).toMatch(/\[\[KEYWORDS\]\][\s\S]*\{角色\}[\s\S]*\{产品\}[\s\S]*\[\[\/KEYWORDS\]\]/);
    expect(answer.match(/镜头\d+（2秒）：.*\{角色\}|镜头\d+（2秒）：.*\{产品\}/g)).toHaveLength(5);
  });

  it('cannot describe a picture that was not sent', async () => {
    const world = await openWorld();
    const prompt = await shipped('try-on-creator', { shot_count: '5', film_seconds: '10' });
    expect(text(await chat(world, prompt))).not.toContain('[[');
  });

  it('answers the shipped transcriber prompt with JSON, one picture a shot', async () => {
    const world = await openWorld();
    const script = '镜头1（2秒）：全景。{角色}走来。\n镜头2（2秒）：近景。{产品}。\n镜头3（2秒）：中景。';
    const prompt = await shipped('try-on-transcriber', { script, keywords: 'k', shot_count: '3' });
    const answer: unknown = JSON.parse(
      text(await chat(world, prompt, { extra: { response_format: { type: 'json_object' } } })),
    );
    expect(answer).toMatchObject({ shots: [{ number: 1 }, { number: 2 }, { number: 3 }] });
  });

  it('follows a JSON schema, and passes what it is to judge', async () => {
    const world = await openWorld();
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' }, reasons: { type: 'array', items: { type: 'string' } } },
    };
    const extra = { response_format: { type: 'json_schema', json_schema: { name: 'v', schema } } };
    expect(JSON.parse(text(await chat(world, '评审', { extra })))).toEqual({ ok: true, reasons: [] });
  });

  it('counts tokens, bills them, cuts at the limit, and refuses an unreadable picture', async () => {
    const world = await openWorld();
    const answer = await chat(world, '写一段', { extra: { max_tokens: 10 } });
    expect(answer.json).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 10 } });
    expect(world.sandbox.books.billTotals()).toEqual({ llm: { inputTokens: 2_000_000, outputTokens: 10_000_000 } });
    expect((await chat(world, 'x', { pictures: ['http://elsewhere/x.png'] })).status).toBe(400);
  });

  it('streams when asked, with usage at the end', async () => {
    const world = await openWorld();
    const answer = await chat(world, '写一段', { extra: { stream: true, stream_options: { include_usage: true } } });
    const events = String(answer.json).trim().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(events.at(-2)).toContain('"usage"');
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
  });
});
