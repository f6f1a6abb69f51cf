import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFrame, encodeFrame, type Frame } from '../../src/sandbox/index.ts';
import { openWorld, tableId, type TestWorld } from './world.ts';

interface Link {
  readonly frames: Frame[];
  /** Events put together from their parts. */
  events(): unknown[];
  receive(frame: Frame): void;
  closed(): void;
}

async function link(world: TestWorld): Promise<Link> {
  const frames: Frame[] = [];
  const peer = world.sandbox.longConnection.accept({
    send: (bytes) => {
      const frame = decodeFrame(bytes);
      if (frame !== undefined) frames.push(frame);
    },
    close: () => {
      peer.closed();
    },
  });
  await world.clock.advance(200);
  const textOf = (frame: Frame): string => new TextDecoder().decode(frame.payload);
  return {
    frames,
    events: () => {
      const byId = Map.groupBy(frames, (frame) => frame.headers['message_id'] ?? '');
      return [...byId.values()].map((parts) => JSON.parse(parts.map(textOf).join('')) as unknown);
    },
    receive: (frame) => {
      peer.receive(encodeFrame(frame));
    },
    closed: () => {
      peer.closed();
    },
  };
}

const ack = (frame: Frame | undefined): Frame => ({
  service: 1,
  method: 1,
  headers: { ...frame?.headers, biz_rt: '-1' },
  payload: new TextEncoder().encode('{"code":200}'),
});

async function subscribed(): Promise<{ world: TestWorld; recordId: string }> {
  const world = await openWorld();
  const recordId = world.sandbox.table.createRow(tableId, {});
  await world.feishu('POST', `/drive/v1/files/${world.sandbox.appToken}/subscribe?file_type=bitable`, {});
  return { world, recordId };
}

describe('the long connection of the sandbox', () => {
  it('tells where to dial, and refuses wrong credentials with 514', async () => {
    const world = await openWorld();
    const ask = (secret: string): ReturnType<typeof world.call> =>
      world.call('POST', '/feishu/callback/ws/endpoint', { AppID: 'cli_5a9db0c05a9db0c0', AppSecret: secret });
    expect(String((await ask('sandbox-secret')).at('data.URL'))).toMatch(
      /^ws:\/\/sandbox\.test\/feishu\/ws\?device_id=/,
    );
    expect((await ask('wrong')).json).toMatchObject({ code: 514, data: {} });
  });

  it('answers a ping, and tells an edit with the hand that made it', async () => {
    const { world, recordId } = await subscribed();
    const one = await link(world);
    one.receive({ service: 1, method: 0, headers: { type: 'ping' } });
    expect(one.frames.pop()?.headers['type']).toBe('pong');
    world.sandbox.table.setCells(tableId, recordId, { 操作: '提交' });
    const fieldId = world.sandbox.table.fields(tableId).find((field) => field.name === '操作')?.fieldId;
    expect(one.events()).toMatchObject([
      {
        header: { event_type: 'drive.file.bitable_record_changed_v1' },
        event: {
          table_id: tableId,
          operator_id: { open_id: 'ou_sandbox_staff' },
          action_list: [
            {
              record_id: recordId,
              action: 'record_edited',
              after_value: [{ field_id: fieldId, field_value: '"提交"' }],
            },
          ],
        },
      },
    ]);
  });

  it('tells nothing of a base that nobody subscribed', async () => {
    const world = await openWorld();
    const one = await link(world);
    world.sandbox.table.createRow(tableId, {});
    expect(one.frames).toEqual([]);
  });

  it('sends an event again until it is acked, in parts when told to', async () => {
    const { world, recordId } = await subscribed();
    const one = await link(world);
    world.sandbox.longConnection.setParts(2);
    world.sandbox.table.setCells(tableId, recordId, { 操作: '提交' });
    expect(one.frames.map((frame) => frame.headers['seq'])).toEqual(['0', '1']);
    expect(one.events()).toHaveLength(1);
    await world.clock.advance(15_000);
    expect(one.frames).toHaveLength(4);
    one.receive(ack(one.frames[0]));
    await world.clock.advance(3_600_000);
    expect(one.frames).toHaveLength(4);
    world.sandbox.longConnection.repeatLast();
    expect(one.frames).toHaveLength(6);
  });

  it('can fall silent without closing, and break', async () => {
    const { world, recordId } = await subscribed();
    const one = await link(world);
    world.sandbox.longConnection.setSilent(true);
    one.receive({ service: 1, method: 0, headers: { type: 'ping' } });
    world.sandbox.table.setCells(tableId, recordId, { 操作: '提交' });
    expect(one.frames).toEqual([]);
    expect(world.sandbox.longConnection.connections()).toBe(1);
    world.sandbox.longConnection.breakLinks();
    expect(world.sandbox.longConnection.connections()).toBe(0);
  });

  it('reads back every frame that it writes, and no garbage', () => {
    const headers = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { noNullPrototype: true });
    fc.assert(
      fc.property(fc.nat(), fc.nat(), headers, fc.uint8Array(), (service, method, given, payload) => {
        const frame = decodeFrame(encodeFrame({ service, method, headers: given, payload }));
        expect(frame).toEqual({ service, method, headers: given, payload: Uint8Array.from(payload) });
      }),
      { examples: [[1, 1, JSON.parse('{"__proto__":"a"}') as Record<string, string>, new Uint8Array()]] },
    );
    expect(decodeFrame(Uint8Array.from([0xff, 0xff]))).toBeUndefined();
  });
});
