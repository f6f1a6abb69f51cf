/** What bytes are, told from their first few; `media` is what they can stand for in a capability. */
export interface FileType {
  readonly mime: string;
  readonly extension: string;
  readonly media: 'image' | 'video' | 'file';
}

/** So many bytes from the start are enough for every type below. */
export const sniffBytes = 64;

const type = (mime: string, extension: string, media: FileType['media']): FileType => ({ mime, extension, media });

const png = type('image/png', 'png', 'image');
const jpeg = type('image/jpeg', 'jpg', 'image');
const gif = type('image/gif', 'gif', 'image');
const webp = type('image/webp', 'webp', 'image');
const avif = type('image/avif', 'avif', 'image');
const heic = type('image/heic', 'heic', 'image');
const mp4 = type('video/mp4', 'mp4', 'video');
const quicktime = type('video/quicktime', 'mov', 'video');
const webm = type('video/webm', 'webm', 'video');
const pdf = type('application/pdf', 'pdf', 'file');
const zip = type('application/zip', 'zip', 'file');
const pptx = type('application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx', 'file');
const json = type('application/json', 'json', 'file');
const html = type('text/html', 'html', 'file');
const text = type('text/plain', 'txt', 'file');

/** Tells the type of a file from its first bytes, never from a name or a header; undefined for what we do not know. */
export function sniffType(head: Uint8Array, nameHint = ''): FileType | undefined {
  const ascii = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, sniffBytes)).toString('latin1');
  if (ascii.startsWith('\u0089PNG\r\n\u001a\n')) return png;
  if (ascii.startsWith('\u00ff\u00d8\u00ff')) return jpeg;
  if (/^GIF8[79]a/.test(ascii)) return gif;
  if (ascii.startsWith('RIFF') && ascii.slice(8, 12) === 'WEBP') return webp;
  if (ascii.slice(4, 8) === 'ftyp') return isoType(ascii.slice(8));
  if (ascii.startsWith('\u001aE\u00df\u00a3')) return webm;
  if (ascii.startsWith('%PDF-')) return pdf;
  if (ascii.startsWith('PK\u0003\u0004')) return /\.pptx$/i.test(nameHint) ? pptx : zip;
  return textType(head);
}

/** ISO base media: the brands that follow `ftyp` tell pictures from films. */
function isoType(brands: string): FileType {
  if (/avi[fs]/.test(brands)) return avif;
  if (/^(hei[cxms]|hev[cx]|mif1|msf1)/.test(brands)) return heic;
  if (brands.startsWith('qt  ')) return quicktime;
  return mp4;
}

/** Text of some kind, if it decodes as UTF-8 without control characters. */
function textType(head: Uint8Array): FileType | undefined {
  const decoded = new TextDecoder('utf-8', { fatal: false }).decode(head.subarray(0, sniffBytes)).trimStart();
  if (decoded === '' || /[\u0000-\u0008\u000e-\u001f]|\ufffd(?!$)/u.test(decoded)) return undefined;
  if (/^<(!doctype|html|head|body|\?xml)/i.test(decoded)) return html;
  return /^[{[]/.test(decoded) ? json : text;
}
