import type { Painter } from '../painter/painter.ts';
import { garments } from './garments.ts';
import { screens } from './screens.ts';

const drawings: Readonly<Record<string, string>> = { ...garments, ...screens };

/** Names of the sample pictures, for rows of the default world. */
export const sampleNames: readonly string[] = Object.keys(drawings);

/** A sample picture as PNG, drawn by the painter from shapes of our own. */
export async function drawSample(painter: Painter, name: string): Promise<Uint8Array> {
  const svg = drawings[name];
  if (svg === undefined) throw new Error(`no sample picture "${name}"; there are ${sampleNames.join(', ')}`);
  return painter.draw(svg, 720);
}
