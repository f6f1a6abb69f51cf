import { z } from 'zod';
import { type Artifact, artifactSchema, type Failure } from '../../contract/index.ts';
import type { NodeFunction } from '../../engine/ports/index.ts';
import { fail, ok, type Result } from '../../kernel/index.ts';
import type { Spool } from '../../media/index.ts';
import { defineFunction } from '../define.ts';
import { aiLabelXmp } from '../picture/label.ts';
import type { PictureWorker } from '../picture/port.ts';

export interface AiLabelDeps {
  readonly pictures: PictureWorker;
  readonly media: Spool;
  /** Setting `media.ai_label`. */
  readonly mode: 'none' | 'metadata' | 'visible';
}

const producer = 'Gridloom';
const input = z.strictObject({
  items: z.array(artifactSchema.nullish()),
  /** `final`: what is published as it is. `material`: goes on into another step or to print, so a visible mark would spoil it. */
  use: z.enum(['final', 'material']),
});

/**
 * `media.ai-label {items, use}` → `{items}`: pictures and films with the label that the operator's setting asks for. Films
 * are labelled in their metadata only: a visible mark would mean encoding them anew. Other files pass as they are.
 */
export function createAiLabel(deps: AiLabelDeps): NodeFunction {
  return defineFunction('media.ai-label', input, async ({ items, use }, signal) => {
    const labelled: Artifact[] = [];
    for (const item of items) {
      if (item === null || item === undefined) continue;
      const done = await labelOne(deps, item, use, signal);
      if (!done.ok) return done;
      labelled.push(done.value);
    }
    return ok({ items: labelled.map((each) => ({ ...each })) });
  });
}

async function labelOne(
  deps: AiLabelDeps,
  item: Artifact,
  use: 'final' | 'material',
  signal: AbortSignal,
): Promise<Result<Artifact, Failure>> {
  if (deps.mode === 'none') return ok(item);
  if (item.mime === 'video/mp4' || item.mime === 'video/quicktime') return await labelFilm(deps, item, signal);
  if (!/^image\/(png|jpeg|webp)$/.test(item.mime)) return ok(item);
  const bytes = await deps.media.read(item, signal);
  if (!bytes.ok) return bytes;
  try {
    const mode = deps.mode === 'visible' && use === 'final' ? 'visible' : 'metadata';
    return await deps.media.keep(await deps.pictures.label(bytes.value, mode, producer), item.name);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return fail({ kind: 'output-invalid', code: 'picture-unusable', message });
  }
}

/** The identifier of an XMP box in ISO base media files. */
const xmpBoxId = 'be7acfcb97a942e89c71999491e3afac';

/** Adds an XMP box behind the last one of the film, streaming: players pass over boxes that they do not know. */
async function labelFilm(deps: AiLabelDeps, film: Artifact, signal: AbortSignal): Promise<Result<Artifact, Failure>> {
  const content = Buffer.from(aiLabelXmp(producer), 'utf8');
  const head = Buffer.alloc(24);
  head.writeUInt32BE(head.length + content.length, 0);
  head.write('uuid', 4, 'latin1');
  head.write(xmpBoxId, 8, 'hex');
  const box = Buffer.concat([head, content]);
  const chunks = async function* (): AsyncIterable<Uint8Array> {
    yield* deps.media.open(film, 0, film.sizeBytes);
    yield box;
  };
  const maxBytes = film.sizeBytes + box.length;
  return await deps.media.store(chunks(), { nameHint: film.name, maxBytes, expect: 'video' }, signal);
}
