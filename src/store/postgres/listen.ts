import type { Client } from 'pg';
import { AbortedError, sleep } from '../../kernel/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { connectClient, type ConnectOptions } from './connect.ts';

const reconnectDelayMs = 500;
type Channels = Readonly<Record<string, () => void>>;

/**
 * Hears what other processes NOTIFY on the named channels, for as long as the program runs: a lost connection is made again, and every channel
 * is told once then, since something may have been missed meanwhile. A payload of `own` was sent by this process.
 */
export async function listen(
  options: ConnectOptions & { readonly clock: Clock },
  own: string,
  channels: Channels,
): Promise<() => Promise<void>> {
  const closing = new AbortController();
  let current = await openListener(options, own, channels, reconnect);
  function reconnect(): void {
    if (closing.signal.aborted) return;
    void again();
  }
  async function again(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await sleep(options.clock, reconnectDelayMs, closing.signal);
        current = await openListener(options, own, channels, reconnect);
        for (const tell of Object.values(channels)) tell();
        return;
      } catch (error) {
        if (!(error instanceof AbortedError)) options.logger.warn('the database cannot be listened to; trying again');
      }
    }
  }
  return async () => {
    closing.abort();
    await current.end().catch(() => undefined);
  };
}

async function openListener(
  options: ConnectOptions,
  own: string,
  channels: Channels,
  onEnd: () => void,
): Promise<Client> {
  const client = await connectClient(options);
  client.on('notification', (message) => {
    if (message.payload !== own) channels[message.channel]?.();
  });
  for (const channel of Object.keys(channels)) await client.query(`LISTEN ${channel}`);
  client.on('end', onEnd);
  return client;
}
