import { BlockList, isIP } from 'node:net';

/**
 * Ranges that a download must not reach (IANA special-purpose registries): loopback, private, link-local (cloud metadata
 * lives there), carrier NAT, documentation, benchmarking, multicast and what is reserved.
 */
const nonPublicV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;
const nonPublicV6 = [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;

const blocked = new BlockList();
for (const [network, prefix] of nonPublicV4) blocked.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of nonPublicV6) blocked.addSubnet(network, prefix, 'ipv6');

/** What local proxies such as Clash hand out for every name while they answer DNS themselves ("fake IP"). */
const fakeRange = new BlockList();
fakeRange.addSubnet('198.18.0.0', 15, 'ipv4');

export type AddressClass = 'public' | 'private' | 'fake-ip';

/** Tells whether an IP address (text, without brackets) may be reached by a download. */
export function classifyAddress(address: string): AddressClass {
  const bare = address.replace(/%.*$/, '');
  const family = isIP(bare);
  if (family === 0) return 'private';
  if (family === 4) {
    if (fakeRange.check(bare, 'ipv4')) return 'fake-ip';
    return blocked.check(bare, 'ipv4') ? 'private' : 'public';
  }
  const mapped = mappedV4(bare);
  if (mapped !== undefined) return classifyAddress(mapped) === 'public' ? 'public' : 'private';
  return blocked.check(bare, 'ipv6') ? 'private' : 'public';
}

/** The IPv4 address inside `::ffff:a.b.c.d`, whichever way it is written. */
function mappedV4(address: string): string | undefined {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const match = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (match === null) return undefined;
  const high = Number.parseInt(match[1] ?? '', 16);
  const low = Number.parseInt(match[2] ?? '', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
