import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Peers are installed only by people who run the benchmarks. */
export function requirePeers() {
  if (existsSync(fileURLToPath(new URL('../node_modules', import.meta.url)))) return;
  console.error('The peers are not installed. Run: npm ci --prefix bench');
  process.exit(2);
}
