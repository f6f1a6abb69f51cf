import sharp from 'sharp';
import { fit } from './fit.ts';
import { writeMp4 } from './mp4.ts';
import type { VideoOrder } from './painter.ts';
import { type Canvas, landscape, simulatedMark, svg } from './shapes.ts';

const framesPerSecond = 6;
const maxFrames = 24;

/** A slow camera move over the first input, every frame an AV1 key frame. */
export async function film(order: VideoOrder): Promise<Uint8Array<ArrayBuffer>> {
  const { widthPx, heightPx } = order;
  const wide = { widthPx: Math.round(widthPx * 1.5), heightPx: Math.round(heightPx * 1.5) };
  const source =
    (await fit(order.inputs[0], wide, 'cover')) ??
    (await sharp(Buffer.from(svg(wide, landscape(wide, order.seed))))
      .png()
      .toBuffer());
  const count = Math.min(maxFrames, Math.max(2, Math.round(order.seconds * framesPerSecond)));
  const frames: Uint8Array[] = [];
  for (let index = 0; index < count; index += 1) {
    frames.push(await frame(source, wide, { order, progressRatio: index / (count - 1) }));
  }
  return writeMp4({ frames, widthPx, heightPx, frameMs: Math.round((order.seconds * 1_000) / count) });
}

async function frame(
  source: Buffer,
  wide: Canvas,
  moment: { order: VideoOrder; progressRatio: number },
): Promise<Uint8Array> {
  const { order, progressRatio } = moment;
  const zoom = 1 - 0.3 * Math.sin(progressRatio * Math.PI);
  const width = Math.floor(wide.widthPx * zoom);
  const height = Math.floor(wide.heightPx * zoom);
  const top = Math.floor((wide.heightPx - height) * progressRatio);
  const left = Math.floor((wide.widthPx - width) / 2);
  const bar = `<rect x="0" y="${order.heightPx - 6}" width="${Math.round(order.widthPx * progressRatio)}" height="6" fill="#ffd75e"/>`;
  return sharp(source)
    .extract({ left, top, width, height })
    .resize(order.widthPx, order.heightPx, { fit: 'fill' })
    .composite([{ input: Buffer.from(svg(order, simulatedMark(order) + bar)), left: 0, top: 0 }])
    .flatten()
    .avif({ quality: 50, effort: 0, chromaSubsampling: '4:2:0' })
    .toBuffer();
}
