import {
  type Artifact,
  artifactSchema,
  type Failure,
  type MediaSource,
  type PictureLimits,
} from '../../contract/index.ts';
import { fail, isJsonObject, type Json, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import { parseLosslessJson } from '../http/index.ts';
import { readFitting, type Upload } from './uploads.ts';

const prefix = 'spool:';

/**
 * For vendors that take pictures inside the request (data URLs): the stored request names the file, and its bytes are read
 * when it is sent. `upload` stands in for a vendor's upload; `finish` replaces the names.
 */
export function createInlineMedia(
  media: MediaSource,
  limits: PictureLimits,
): {
  readonly upload: Upload;
  readonly finish: (payload: JsonObject, signal: AbortSignal) => Promise<Result<JsonObject, Failure>>;
} {
  return {
    upload: (artifact) => Promise.resolve(ok(`${prefix}${JSON.stringify(artifact)}`)),
    finish: async (payload, signal) => {
      const urls = new Map<string, string>();
      for (const reference of referencesIn(payload)) {
        if (urls.has(reference)) continue;
        const url = await toDataUrl(parseReference(reference), media, limits, signal);
        if (!url.ok) return url;
        urls.set(reference, url.value);
      }
      return ok(replaceMembers(payload, urls));
    },
  };
}

async function toDataUrl(
  artifact: Artifact,
  media: MediaSource,
  limits: PictureLimits,
  signal: AbortSignal,
): Promise<Result<string, Failure>> {
  const file = await readFitting(artifact, media, limits, signal);
  if (!file.ok) return file;
  const { bytes, mime } = file.value;
  if (bytes.byteLength > limits.maxBytes || !limits.mimes.includes(mime)) {
    return fail({
      kind: 'invalid-input',
      code: 'input.images',
      message: `${artifact.name} (${mime}, ${bytes.byteLength} bytes): the vendor takes ${limits.mimes.join(', ')} up to ${limits.maxBytes} bytes`,
    });
  }
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return ok(`data:${mime};base64,${base64}`);
}

function parseReference(reference: string): Artifact {
  return artifactSchema.parse(parseLosslessJson(reference.slice(prefix.length))?.value);
}

function referencesIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return value.startsWith(`${prefix}{`) ? [value] : [];
  if (isJsonList(value)) return value.flatMap(referencesIn);
  return isJsonObject(value) ? Object.values(value).flatMap(referencesIn) : [];
}

function replace(value: Json | undefined, urls: ReadonlyMap<string, string>): Json | undefined {
  if (typeof value === 'string') return urls.get(value) ?? value;
  if (isJsonList(value)) return value.map((each) => replace(each, urls) ?? null);
  return isJsonObject(value) ? replaceMembers(value, urls) : value;
}

function replaceMembers(value: JsonObject, urls: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replace(member, urls)]));
}

function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
