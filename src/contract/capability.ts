import { z } from 'zod';
import { artifactSchema, remoteMediaSchema } from './artifact.ts';

/** What kind of paid thing a capability makes; policies for doubt, deadlines and poll rhythm are set by it. */
export type MediaClass = 'text' | 'image' | 'video' | 'free';

/**
 * The stable contract of an ability. `oneShot` answers in the submit itself; `submitPoll` gives a handle. An
 * Implementation of a submit/poll capability may still answer at once.
 */
export interface Capability {
  readonly id: CapabilityId;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly paid: boolean;
  readonly mode: 'one-shot' | 'submit-poll';
  readonly mediaClass: MediaClass;
}

const media = z.union([artifactSchema, remoteMediaSchema]);

const chatInput = z.object({
  system: z.string().optional(),
  prompt: z.string().min(1),
  maxOutputTokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** `json` asks the model for one JSON object; the caller still parses defensively. */
  format: z.enum(['text', 'json']).optional(),
});
const chatOutput = z.object({ text: z.string().min(1), finish: z.enum(['stop', 'length', 'other']) });

const imageInput = z.object({
  prompt: z.string().min(1),
  /** What must not appear; adapters of models without a negative prompt fold it into the prompt. */
  avoid: z.string().optional(),
  images: z.array(artifactSchema).optional(),
  ratio: z
    .string()
    .regex(/^\d+:\d+$/)
    .optional(),
  resolution: z.enum(['1k', '2k', '4k']).optional(),
  count: z.int().min(1).max(9).optional(),
  seed: z.int().optional(),
});

const videoInput = z.object({
  prompt: z.string().min(1),
  avoid: z.string().optional(),
  /** Reference pictures. With `firstFrame` set, models that take only one of the two use that. */
  images: z.array(artifactSchema).optional(),
  firstFrame: artifactSchema.optional(),
  lastFrame: artifactSchema.optional(),
  durationS: z.int().min(1).max(60),
  ratio: z
    .string()
    .regex(/^\d+:\d+$/)
    .optional(),
  resolution: z.enum(['480p', '720p', '1080p', '4k']).optional(),
  audio: z.boolean(),
});

export const capabilities = {
  'text.generate': { paid: true, mode: 'one-shot', mediaClass: 'text', input: chatInput, output: chatOutput },
  'image.analyze': {
    paid: true,
    mode: 'one-shot',
    mediaClass: 'text',
    input: chatInput.extend({ images: z.array(artifactSchema).min(1) }),
    output: chatOutput,
  },
  'image.generate': {
    paid: true,
    mode: 'submit-poll',
    mediaClass: 'image',
    input: imageInput,
    output: z.object({ images: z.array(media).min(1) }),
  },
  'video.generate': {
    paid: true,
    mode: 'submit-poll',
    mediaClass: 'video',
    input: videoInput,
    output: z.object({ videos: z.array(media).min(1) }),
  },
  'http.request': {
    paid: false,
    mode: 'one-shot',
    mediaClass: 'free',
    input: z.object({
      url: z.url({ protocol: /^https?$/ }),
      method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']).optional(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.json().optional(),
    }),
    output: z.object({ status: z.int(), body: z.json() }),
  },
  'knowledge.search': {
    paid: false,
    mode: 'one-shot',
    mediaClass: 'free',
    input: z.object({ query: z.string().min(1), limit: z.int().min(1).max(50).optional() }),
    output: z.object({ hits: z.array(z.object({ source: z.string(), title: z.string(), text: z.string() })) }),
  },
  'web.search': {
    paid: true,
    mode: 'one-shot',
    mediaClass: 'text',
    input: z.object({ query: z.string().min(1), limit: z.int().min(1).max(50).optional() }),
    output: z.object({
      hits: z.array(
        z.object({
          source: z.string(),
          title: z.string(),
          text: z.string(),
          /** The name of the site, and the day of the page in ISO 8601, where the vendor tells them. */
          site: z.string().optional(),
          published: z.string().optional(),
        }),
      ),
    }),
  },
} as const satisfies Record<string, Omit<Capability, 'id'>>;

export type CapabilityId = keyof typeof capabilities;

export type ChatInput = z.infer<typeof chatInput>;
export type AnalyzeInput = z.infer<(typeof capabilities)['image.analyze']['input']>;
export type ImageInput = z.infer<typeof imageInput>;
export type VideoInput = z.infer<typeof videoInput>;

export function isCapabilityId(text: string): text is CapabilityId {
  return Object.hasOwn(capabilities, text);
}

export function capability(id: CapabilityId): Capability {
  return { id, ...capabilities[id] };
}
