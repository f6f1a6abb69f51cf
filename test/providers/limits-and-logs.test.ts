import { describe, expect, it } from 'vitest';
import type { LogFields, Logger } from '../../src/kernel/index.ts';
import { drive } from './drive.ts';
import { fixture } from './fixtures.ts';
import { adapterOf, apiKey, json, modelOf, png, providerWith, signal } from './provider-world.ts';

const fields = { prompt: { name: 'prompt' }, images: { name: 'image_input', as: 'list' as const } };
const model = modelOf({ implementation: 'kie.market', fields });

/** Keeps every line that was written. */
function listeningLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, more?: LogFields): void => {
    lines.push(JSON.stringify({ message, ...more }));
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return { logger, lines };
}

describe('what calls leave behind', () => {
  it('P174 logs each call with address, status and time, but no key, no query, no prompt', async () => {
    const { logger, lines } = listeningLogger();
    const world = providerWith('kie', { logger });
    world.answer('/', json({ code: 200, data: { taskId: 'secret-task-id' } }));
    const adapter = adapterOf(world, 'kie.market');
    const request = await adapter.prepare(
      { key: 'k', capability: 'image.generate', model, input: { prompt: '私密的提示词' } },
      signal,
    );
    if (!request.ok) throw new Error(request.failure.message);
    await adapter.submit(request.value, signal);
    await adapter.poll!({ taskId: 'secret-task-id' }, signal);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('"url":"https://kie.example/api/v1/jobs/createTask"');
    expect(lines[0]).toContain('"status":200');
    expect(lines.join('')).not.toMatch(/私密|secret-task-id/);
    expect(lines.join('')).not.toContain(apiKey);
  });

  it('P106 does not take in an answer without end: a submit of 20 MB of JSON leaves the outcome unknown', async () => {
    const world = providerWith('kie');
    world.answer('/', json(`{"code":200,"data":{"taskId":"${'x'.repeat(20_000_000)}"}}`));
    const adapter = adapterOf(world, 'kie.market');
    const request = await adapter.prepare(
      { key: 'k', capability: 'image.generate', model, input: { prompt: 'x' } },
      signal,
    );
    if (!request.ok) throw new Error(request.failure.message);
    expect(await drive(world.clock, adapter.submit(request.value, signal))).toMatchObject({ kind: 'unknown' });
  });

  it('P084 makes links fresh for each try: the second try uploads again, at once before its submit', async () => {
    const world = providerWith('kie');
    world.answer('file-stream-upload', json(fixture('kie-upload.json')));
    const image = await world.keep(png(), 'a.png');
    const adapter = adapterOf(world, 'kie.market');
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const call = {
        key: `k${attempt}`,
        capability: 'image.generate',
        model,
        input: { prompt: 'x', images: [image] },
      } as const;
      await adapter.prepare(call, signal);
      expect(world.calls.filter((each) => each.url.includes('file-stream-upload'))).toHaveLength(attempt);
      await world.clock.advance(2 * 3_600_000);
    }
  });

  it('P159 keeps waiting as long as the configured limit says, beyond any limit of a library', async () => {
    const world = providerWith('openai-chat');
    world.answer('/', () => async () => {
      await new Promise<void>((resolve) => world.clock.after(179_000, resolve));
      return new Response(fixture('openrouter-completion.json'));
    });
    const adapter = adapterOf(world, 'openai-chat');
    const chat = modelOf({ implementation: 'openai-chat' });
    const request = await adapter.prepare(
      { key: 'k', capability: 'text.generate', model: chat, input: { prompt: 'x' } },
      signal,
    );
    if (!request.ok) throw new Error(request.failure.message);
    expect(await drive(world.clock, adapter.submit(request.value, signal))).toMatchObject({ kind: 'completed' });
  });
});
