import type { OverlayOptions } from 'sharp';

/**
 * The label of generated media that China asks for (GB 45438-2025, in force since 2025-09-01): an implicit one in the
 * file's metadata, and where wanted a visible mark. The mark is drawn from shapes, since no fonts may be assumed: the two
 * letters A and I in a plate, with a side of at least 5 % of the picture's shorter side.
 */
export async function labelPicture(
  bytes: Uint8Array,
  mode: 'metadata' | 'visible',
  producer: string,
): Promise<Uint8Array> {
  const { decode } = await import('./decode.ts');
  const { width, height, format } = await decode(bytes).metadata();
  const marked = mode === 'visible' ? decode(bytes).composite([markFor(width, height)]) : decode(bytes);
  const labelled = marked.keepMetadata().withXmp(aiLabelXmp(producer));
  if (format === 'jpeg') return await labelled.jpeg({ quality: 95 }).toBuffer();
  if (format === 'webp') return await labelled.webp({ quality: 95 }).toBuffer();
  return await labelled.png().toBuffer();
}

/**
 * The implicit label as XMP. The field's name and its namespace are those of the TC260 practice guide as recalled; not
 * checked against its text.
 */
export function aiLabelXmp(producer: string): string {
  const value = JSON.stringify({ Label: '1', ContentProducer: producer })
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;');
  return (
    '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">' +
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ' +
    `xmlns:TC260="http://www.tc260.org.cn/ns/AIGC/1.0/" TC260:AIGC="${value}"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
  );
}

function markFor(widthPx: number, heightPx: number): OverlayOptions {
  const side = Math.max(24, Math.round(Math.min(widthPx, heightPx) * 0.08));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side * 2}" height="${side}" viewBox="0 0 40 20">
<rect x="1" y="1" width="38" height="18" rx="4" fill="#000000" fill-opacity="0.55"/>
<path d="M9 15 L14 5 L19 15 M11 11.5 H17 M25 5 V15 M22.5 5 H27.5 M22.5 15 H27.5" stroke="#ffffff" stroke-width="2" fill="none" stroke-linecap="round"/></svg>`;
  const gap = Math.round(side / 4);
  return {
    input: Buffer.from(svg),
    left: Math.max(0, widthPx - side * 2 - gap),
    top: Math.max(0, heightPx - side - gap),
  };
}
