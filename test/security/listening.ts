import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Addresses on which a process listens, as the kernel tells: `127.0.0.1:7010`, `0.0.0.0:80`, `[…]:443`, `udp 0.0.0.0:53`. */
export function listeningAddresses(pid: number): readonly string[] {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  return [
    ...socketsOf('tcp', '0A', own),
    ...socketsOf('tcp6', '0A', own),
    ...socketsOf('udp', '07', own).map((address) => `udp ${address}`),
    ...socketsOf('udp6', '07', own).map((address) => `udp ${address}`),
  ];
}

/** `state` 0A is LISTEN; 07 of a UDP socket means that it is open and not connected. */
function socketsOf(table: string, state: string, own: ReadonlySet<string>): readonly string[] {
  const lines = readFileSync(`/proc/net/${table}`, 'utf8').trim().split('\n').slice(1);
  return lines.flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    if (fields[3] !== state || !own.has(fields[9] ?? '')) return [];
    return [readAddress(fields[1] ?? '')];
  });
}

function readAddress(hex: string): string {
  const [address = '', port = ''] = hex.split(':');
  const number = parseInt(port, 16);
  if (address.length > 8) return `[${address}]:${number}`;
  const bytes = [6, 4, 2, 0].map((at) => parseInt(address.slice(at, at + 2), 16));
  return `${bytes.join('.')}:${number}`;
}
