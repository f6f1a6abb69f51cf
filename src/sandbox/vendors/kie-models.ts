import { z } from 'zod';

/**
 * Inputs of kie's models as its catalogue has them (snapshot of 2026-08-19): names, JSON types, enumerations, limits. A field
 * of the wrong name is ignored by the vendor, one that is missing, of the wrong type or out of range is refused with 422.
 */
const text = (maxChars: number): z.ZodType => z.string().min(1).max(maxChars);
const list = (most: number): z.ZodType => z.array(z.string()).max(most);
const someOf = (most: number): z.ZodType => z.array(z.string()).min(1).max(most);
const words = (all: string): z.ZodType => z.enum(all.split(' '));

const wide = words('1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9 auto');
const seedreamRatio = words('1:1 4:3 3:4 16:9 9:16 2:3 3:2 21:9');
const seedream = { aspect_ratio: seedreamRatio, prompt: text(3_000), quality: words('basic high') };

const seedance = (resolutions: string): z.ZodType =>
  z.looseObject({
    prompt: text(20_000),
    aspect_ratio: words('1:1 4:3 3:4 16:9 9:16 21:9 adaptive').optional(),
    duration: z.int().min(4).max(15).optional(),
    first_frame_url: z.string().optional(),
    last_frame_url: z.string().optional(),
    reference_image_urls: list(9).optional(),
    generate_audio: z.boolean().optional(),
    resolution: words(resolutions).optional(),
  });

const schemas: Readonly<Record<string, z.ZodType>> = {
  'nano-banana-pro': z.looseObject({
    prompt: text(10_000),
    aspect_ratio: wide.optional(),
    image_input: list(8).optional(),
    output_format: words('png jpg').optional(),
    resolution: words('1K 2K 4K').optional(),
  }),
  'nano-banana-2': z.looseObject({
    prompt: text(20_000),
    aspect_ratio: words('1:1 2:3 3:2 1:4 4:1 3:4 4:3 4:5 5:4 1:8 8:1 9:16 16:9 21:9 auto').optional(),
    image_input: list(14).optional(),
    output_format: words('png jpg').optional(),
    resolution: words('1K 2K 4K').optional(),
  }),
  'google/nano-banana': z.looseObject({ prompt: text(5_000), image_size: wide.optional() }),
  'google/nano-banana-edit': z.looseObject({ prompt: text(5_000), image_urls: someOf(10) }),
  'seedream/4.5-edit': z.looseObject({ ...seedream, image_urls: someOf(14) }),
  'seedream/4.5-text-to-image': z.looseObject(seedream),
  'bytedance/seedance-2': seedance('480p 720p 1080p 4k'),
  'bytedance/seedance-2-fast': seedance('480p 720p'),
  'bytedance/seedance-2-mini': seedance('480p 720p'),
  'kling-2.6/image-to-video': z.looseObject({
    prompt: text(1_000),
    duration: words('5 10'),
    image_urls: someOf(1),
    sound: z.boolean(),
  }),
  'kling-3.0/video': z.looseObject({
    prompt: text(2_500),
    aspect_ratio: words('16:9 9:16 1:1'),
    duration: words('3 4 5 6 7 8 9 10 11 12 13 14 15'),
    mode: words('std pro 4K'),
    multi_shots: z.boolean(),
    multi_prompt: z.array(z.unknown()),
    sound: z.boolean(),
    image_urls: list(2).optional(),
  }),
  'wan/2-5-image-to-video': z.looseObject({ prompt: text(800), duration: words('5 10'), image_url: z.string() }),
};

/** Why the model refuses this input; undefined when it takes it, or when the catalogue here does not have the model. */
export function refuseInput(model: string, input: unknown): string | undefined {
  const issue = schemas[model]?.safeParse(input).error?.issues[0];
  return issue === undefined ? undefined : `${issue.path.join('.')}: ${issue.message}`;
}
