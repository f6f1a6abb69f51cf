import { z } from 'zod';
import { type Artifact, artifactSchema, type Failure, type MediaSource } from '../../contract/index.ts';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import { defineFunction } from '../define.ts';
import type { PictureWorker } from './port.ts';
import { judgeFacts, wishesSchema } from './wishes.ts';

export interface PictureDeps {
  readonly pictures: PictureWorker;
  readonly media: MediaSource;
}

/** A picture, or a list whose first is meant. */
const onePicture = z.union([
  artifactSchema,
  z.tuple([artifactSchema], artifactSchema).transform(([first]): Artifact => first),
]);

/** `picture.contact-sheet {images, columns?, cell_width?, name?}` → `{image}`. */
export function createContactSheet(deps: PictureDeps): NodeFunction {
  const input = z.strictObject({
    images: z.array(artifactSchema).min(1).max(50),
    columns: z.int().min(1).max(10).optional(),
    cell_width: z.int().min(64).max(2048).optional(),
    name: z.string().optional(),
  });
  return defineFunction('picture.contact-sheet', input, async ({ images, columns, cell_width, name }, signal) => {
    const pictures: Uint8Array[] = [];
    for (const image of images) {
      const bytes = await deps.media.read(image, signal);
      if (!bytes.ok) return bytes;
      pictures.push(bytes.value);
    }
    const options = {
      columns: columns ?? Math.ceil(Math.sqrt(images.length)),
      cellWidthPx: cell_width ?? 540,
      gapPx: 12,
    };
    return await keepWork(deps, name ?? 'contact-sheet.png', () => deps.pictures.contactSheet(pictures, options));
  });
}

/** `picture.check {image, …wishes}` → `{ok, reasons, facts}`: never fails for what a picture is, only says it. */
export function createPictureCheck(deps: PictureDeps): NodeFunction {
  const input = wishesSchema.extend({ image: onePicture });
  return defineFunction('picture.check', input, async ({ image, ...wishes }, signal) => {
    const bytes = await deps.media.read(image, signal);
    if (!bytes.ok) return bytes;
    return await guarded(async () => {
      const facts = await deps.pictures.measure(bytes.value);
      const reasons = judgeFacts(facts, wishes);
      return ok({ ok: reasons.length === 0, reasons: [...reasons], facts: { ...facts } });
    });
  });
}

/** `picture.cut-out {image, tolerance?, name?}` → `{image, kept_ratio}`; refuses when nothing or everything would stay. */
export function createCutOut(deps: PictureDeps): NodeFunction {
  const input = z.strictObject({
    image: onePicture,
    /** Distance in RGB space (0–441) from which a colour is no ground. */
    tolerance: z.number().min(1).max(200).optional(),
    name: z.string().optional(),
  });
  return defineFunction('picture.cut-out', input, async ({ image, tolerance, name }, signal) => {
    const bytes = await deps.media.read(image, signal);
    if (!bytes.ok) return bytes;
    return await guarded(async () => {
      const cut = await deps.pictures.cutOut(bytes.value, tolerance ?? 36);
      if (cut.keptRatio < 0.005) return invalidOutput('nothing stands out from the ground');
      const kept = await deps.media.keep(cut.bytes, name ?? 'cut-out.png');
      return kept.ok ? ok({ image: { ...kept.value }, kept_ratio: cut.keptRatio }) : kept;
    });
  });
}

/** `picture.print-size {image, long_side?, dpi?, name?}` → `{image}`. */
export function createPrintSize(deps: PictureDeps): NodeFunction {
  const input = z.strictObject({
    image: onePicture,
    long_side: z.int().min(256).max(8192).optional(),
    dpi: z.int().min(72).max(1200).optional(),
    name: z.string().optional(),
  });
  return defineFunction('picture.print-size', input, async ({ image, long_side, dpi, name }, signal) => {
    const bytes = await deps.media.read(image, signal);
    if (!bytes.ok) return bytes;
    return await keepWork(deps, name ?? 'print.png', () =>
      deps.pictures.printSize(bytes.value, long_side ?? 4096, dpi ?? 300),
    );
  });
}

async function keepWork(
  deps: PictureDeps,
  name: string,
  work: () => Promise<Uint8Array>,
): Promise<Result<{ image: Artifact }, Failure>> {
  return await guarded(async () => {
    const kept = await deps.media.keep(await work(), name);
    return kept.ok ? ok({ image: kept.value }) : kept;
  });
}

/** Bytes that the picture library cannot read are a bad output of the step before, not an error of ours. */
async function guarded<T>(work: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  try {
    return await work();
  } catch (cause) {
    return invalidOutput(cause instanceof Error ? cause.message : String(cause));
  }
}

function invalidOutput(message: string): { ok: false; failure: Failure } {
  return fail({ kind: 'output-invalid', code: 'picture-unusable', message });
}
