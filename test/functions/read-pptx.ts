import { crc32, inflateRawSync } from 'node:zlib';

/** The parts of a ZIP file by name, read from its central directory, each held against its sum. */
function unzip(bytes: Uint8Array): ReadonlyMap<string, string> {
  const data = Buffer.from(bytes);
  const end = data.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  const parts = new Map<string, string>();
  let at = data.readUInt32LE(end + 16);
  for (let left = data.readUInt16LE(end + 10); left > 0; left -= 1) {
    const method = data.readUInt16LE(at + 10);
    const size = data.readUInt32LE(at + 20);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => data.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const start = data.readUInt32LE(at + 42);
    const name = data.toString('utf8', at + 46, at + 46 + nameLength);
    const from = start + 30 + data.readUInt16LE(start + 26) + data.readUInt16LE(start + 28);
    const raw = data.subarray(from, from + size);
    const content = method === 8 ? inflateRawSync(raw) : raw;
    const sums = [data.readUInt32LE(at + 16), data.readUInt32LE(start + 14)];
    if (sums.some((sum) => sum !== crc32(content))) throw new Error(`${name} is not what its sum says`);
    parts.set(name, content.toString('utf8'));
    at += 46 + nameLength + extraLength + commentLength;
  }
  return parts;
}

/** Opens a .pptx as a reader would: the slides in the order of the presentation, their texts and notes. */
export function readSlides(bytes: Uint8Array): Promise<readonly { texts: readonly string[]; notes: string }[]> {
  const parts = unzip(bytes);
  const relations = new Map(
    [...(parts.get('ppt/_rels/presentation.xml.rels') ?? '').matchAll(/Id="([^"]+)"[^>]*Target="([^"]+)"/g)].map(
      (match) => [match[1], match[2]],
    ),
  );
  const order = [...(parts.get('ppt/presentation.xml') ?? '').matchAll(/<p:sldId [^>]*r:id="([^"]+)"/g)];
  return Promise.resolve(
    order.map((match) => {
      const target = relations.get(match[1]) ?? '';
      const number = /slide(\d+)\.xml/.exec(target)?.[1] ?? '';
      return {
        texts: textsOf(parts.get(`ppt/${target}`) ?? ''),
        notes: textsOf(parts.get(`ppt/notesSlides/notesSlide${number}.xml`) ?? '').join('\n'),
      };
    }),
  );
}

function textsOf(xml: string): string[] {
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' };
  return [...xml.matchAll(/<a:t>([^<]*)<\/a:t>/g)]
    .map((match) => (match[1] ?? '').replace(/&(lt|gt|quot|apos|amp);/g, (entity) => entities[entity] ?? entity))
    .filter((text) => text !== '');
}
