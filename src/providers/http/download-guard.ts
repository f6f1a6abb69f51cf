import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { TransportError } from '../../kernel/index.ts';
import { classifyAddress } from './public-address.ts';

export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface GuardOptions {
  /** Hosts (`name`, or `name:port`) that may have private addresses and use plain http. */
  readonly allowHosts: readonly string[];
  /**
   * What to do when a name resolves into 198.18.0.0/15. `refuse` (default). `probe`: accept for names, never for literal
   * addresses, if a name that cannot exist resolves into that range too, which only a fake-IP resolver does.
   */
  readonly fakeIp: 'refuse' | 'probe';
  readonly lookup?: Lookup;
}

const blockedError = (message: string): TransportError => new TransportError('not-sent', 'BLOCKED_ADDRESS', message);

/** What must hold for a download before any packet leaves; DNS is checked on the connection itself by `guardedLookup`. */
export function checkDownloadUrl(url: URL, options: GuardOptions): TransportError | undefined {
  if (isAllowedHost(url, options.allowHosts)) return undefined;
  if (url.protocol !== 'https:') {
    return blockedError(
      `downloads go over https; ${url.protocol}//${url.host} is not in transfer.allow_hosts (add the host there if it is yours)`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && classifyAddress(host) !== 'public') {
    return blockedError(`${host} is not a public address (add it to transfer.allow_hosts if it is yours)`);
  }
  return undefined;
}

export function isAllowedHost(url: URL, allowHosts: readonly string[]): boolean {
  const host = url.hostname.toLowerCase();
  return allowHosts.some((allowed) => {
    const wanted = allowed.trim().toLowerCase();
    return wanted !== '' && (wanted === host || wanted === url.host.toLowerCase());
  });
}

/**
 * A DNS lookup for the connection that is about to be made: it hands on only addresses that were checked, so that a name
 * which changes between check and use gains nothing. One private address among several spoils them all.
 */
export function guardedLookup(options: GuardOptions): LookupFunction {
  const resolve: Lookup = options.lookup ?? dnsLookup;
  return (hostname, lookupOptions, callback) => {
    resolve(hostname, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const answer = (): void => {
        const [first] = addresses;
        if (lookupOptions.all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      };
      const refuse = (address: string): void =>
        callback(
          Object.assign(
            new Error(
              `${hostname} resolves to ${address}, which is not public (add it to transfer.allow_hosts if it is yours)`,
            ),
            { code: 'BLOCKED_ADDRESS' },
          ),
          '',
        );
      const hidden = addresses.find(({ address }) => classifyAddress(address) === 'private');
      const fake = addresses.find(({ address }) => classifyAddress(address) === 'fake-ip');
      if (hidden !== undefined) refuse(hidden.address);
      else if (fake === undefined) answer();
      else if (options.fakeIp === 'refuse') refuse(fake.address);
      else proveFakeIp(resolve, (proven) => (proven ? answer() : refuse(fake.address)));
    });
  };
}

/** RFC 6761: `.invalid` never exists. A resolver that answers it from 198.18.0.0/15 makes addresses up for every name. */
function proveFakeIp(resolve: Lookup, then: (proven: boolean) => void): void {
  resolve('gridloom-probe.invalid', { all: true }, (error, addresses) =>
    then(
      error === null &&
        addresses.length > 0 &&
        addresses.every(({ address }) => classifyAddress(address) === 'fake-ip'),
    ),
  );
}
