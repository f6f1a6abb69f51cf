import { afterEach, describe, expect, it } from 'vitest';
import {
  createLongConnection,
  type LongConnectionDeps,
  type WakeEvent,
  type WakeSource,
} from '../../src/feishu/index.ts';
import { createSystemClock, type Fetch, Secret } from '../../src/kernel/index.ts';
import { appSecret, recordingLogger } from './support/fake-platform.ts';
import { type SocketServer, startSocketServer } from './support/socket-server.ts';

const plainFetch: Fetch = (url, init) =>
  fetch(url, {
    method: init.method,
    headers: init.headers ?? {},
    ...(typeof init.body === 'string' ? { body: init.body } : {}),
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });

interface Link {
  readonly server: SocketServer;
  readonly source: WakeSource;
  readonly events: WakeEvent[];
  readonly lines: string[];
  readonly connected: () => number;
  /** Waits (at most 10 s) until it holds; looked at whenever something happens on the link. */
  readonly until: (holds: () => boolean) => Promise<void>;
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function link(
  overrides: Partial<LongConnectionDeps> = {},
  prepare: (server: SocketServer) => void = () => undefined,
): Promise<Link> {
  const server = await startSocketServer();
  prepare(server);
  const { logger, lines } = recordingLogger();
  const events: WakeEvent[] = [];
  let connected = 0;
  const clock = createSystemClock();
  const source = createLongConnection({
    appId: 'cli_0123456789abcdef',
    appSecret: new Secret(appSecret),
    baseUrl: `${server.baseUrl}/`,
    fetch: plainFetch,
    clock,
    logger,
    livenessMs: 150,
    restartMs: 50,
    onConnected: () => {
      connected += 1;
    },
    ...overrides,
  });
  open.push(async () => {
    await source.stop();
    await server.close();
  });
  await source.start((event) => {
    events.push(event);
  });
  const until = async (holds: () => boolean): Promise<void> => {
    const endMs = clock.monotonicMs() + 10_000;
    while (!holds()) {
      if (clock.monotonicMs() > endMs) throw new Error('did not come about within 10 s');
      await new Promise<void>((resolve) => clock.after(5, resolve));
    }
  };
  return { server, source, events, lines, connected: () => connected, until };
}

const recordChanged = (eventId: string, operator = 'ou_staff') => ({
  schema: '2.0',
  header: {
    event_id: eventId,
    event_type: 'drive.file.bitable_record_changed_v1',
    create_time: '1',
    token: '',
    app_id: 'cli',
  },
  event: {
    file_type: 'bitable',
    file_token: 'bascnBase',
    table_id: 'tblX',
    revision: 3,
    operator_id: { open_id: operator, user_id: 'u', union_id: 'on' },
    action_list: [
      {
        record_id: 'rec1',
        action: 'record_edited',
        before_value: [{ field_id: 'fldOp', field_value: '' }],
        after_value: [
          { field_id: 'fldOp', field_value: '"optSubmit"' },
          { field_id: 'fldText', field_value: '[{"type":"text","text":"短"}]' },
          { field_id: 'fldBare', field_value: 'not json' },
        ],
      },
    ],
    subscriber_id_list: [],
    update_time: 1_700_000_000,
  },
});

describe('the long connection', () => {
  it('asks for its address, comes up, and hands over an edit with what is in it', async () => {
    const { server, source, events, connected, until } = await link({ ownId: () => 'ou_bot' });
    await server.happened('ping');
    await until(() => source.isAlive());
    expect(server.starts[0]?.body).toEqual({ AppID: 'cli_0123456789abcdef', AppSecret: appSecret });
    expect(connected()).toBe(1);
    server.sendEvent(recordChanged('event-1'));
    await until(() => events.length === 1);
    expect(events[0]).toEqual({
      eventId: 'event-1',
      tableId: 'tblX',
      appToken: 'bascnBase',
      operatorId: 'ou_staff',
      revision: 3,
      isOwn: false,
      records: [
        {
          recordId: 'rec1',
          action: 'record_edited',
          fieldIds: ['fldOp', 'fldText', 'fldBare'],
          after: { fldOp: 'optSubmit', fldText: [{ type: 'text', text: '短' }], fldBare: 'not json' },
        },
      ],
    });
    expect(source.lastEventAtMs()).toBeGreaterThan(0);
    await server.happened('ack');
    expect(JSON.parse(Buffer.from(server.received.at(-1)?.payload ?? []).toString())).toEqual({ code: 200 });
  });

  it('puts together an event that comes in two parts', async () => {
    const { server, events, until } = await link();
    await server.happened('ping');
    server.sendEvent(recordChanged('event-1'), { parts: 2 });
    await until(() => events.length === 1);
    expect(events[0]?.eventId).toBe('event-1');
  });

  it('tells a repeated event once, but acknowledges it again', async () => {
    const { server, events, until } = await link();
    await server.happened('ping');
    server.sendEvent(recordChanged('event-1'));
    server.sendEvent(recordChanged('event-1'));
    server.sendEvent(recordChanged('event-2'));
    await server.happened('ack', 3);
    await until(() => events.length === 2);
    expect(events.map((event) => event.eventId)).toEqual(['event-1', 'event-2']);
  });

  it('P047 marks the app’s own edits', async () => {
    const { server, events, until } = await link({ ownId: () => 'ou_bot' });
    await server.happened('ping');
    server.sendEvent(recordChanged('event-1', 'ou_bot'));
    await until(() => events.length === 1);
    expect(events[0]?.isOwn).toBe(true);
  });

  it('notices a link that has died in silence, stops calling it alive, and comes up again', async () => {
    const { server, source, connected, lines, until } = await link();
    await server.happened('ping');
    await until(() => source.isAlive());
    server.fallSilent();
    await until(() => !source.isAlive());
    await until(() => connected() === 2);
    expect(source.isAlive()).toBe(true);
    expect(lines.some((line) => line.startsWith('long connection is down'))).toBe(true);
  });

  it('comes up again after the link broke, and hands over what comes then', async () => {
    const { server, events, connected, until } = await link();
    await server.happened('ping');
    server.breakLink();
    await until(() => connected() === 2);
    await server.happened('connected', 2);
    server.sendEvent(recordChanged('event-after'));
    await until(() => events.length === 1);
  });

  for (const data of [{}, null]) {
    it(`refused (514, data ${JSON.stringify(data)}) is not alive, says so, and tries anew after its pause`, async () => {
      const { server, source, lines, until } = await link({}, ({ startAnswers }) => {
        startAnswers.push({ code: 514, msg: 'auth failed', data });
      });
      await server.happened('start', 2);
      await until(() => source.isAlive());
      expect(lines.some((line) => line.startsWith('long connection has failed'))).toBe(true);
    });
  }

  it('goes on when a handler throws, and still acknowledges', async () => {
    const { server, until, source, lines } = await link({
      onConnected: () => {
        throw new Error('planted');
      },
    });
    await until(() => source.isAlive());
    server.sendEvent({
      schema: '2.0',
      header: { event_id: 'x', event_type: 'drive.file.bitable_record_changed_v1' },
      event: {},
    });
    await server.happened('ack');
    expect(lines.join('\n')).toContain('planted');
    expect(lines.join('\n')).toContain('record event could not be read');
  });

  it('with an app id that the SDK would pass over in silence says so and is not alive', async () => {
    const { server, source, lines } = await link({ appId: 'my-app' });
    expect(source.isAlive()).toBe(false);
    expect(server.starts).toHaveLength(0);
    expect(lines[0]).toContain('long connection cannot start');
  });

  it('stops for good: the socket is closed and nothing is dialled again', async () => {
    const { server, source, until } = await link();
    await until(() => source.isAlive());
    await source.stop();
    await until(() => server.connections() === 0);
    expect(source.isAlive()).toBe(false);
    expect(server.starts).toHaveLength(1);
  });

  it('logs neither the secret nor the address with its ticket', async () => {
    const { server, source, lines, until } = await link();
    await until(() => source.isAlive());
    server.breakLink();
    await server.happened('connected', 2);
    expect(lines.join('\n')).not.toContain(appSecret);
    expect(lines.join('\n')).not.toContain('device_id=');
  });
});
