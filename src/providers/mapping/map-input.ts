import type { Artifact, FieldMapping, ModelSettings } from '../../contract/index.ts';
import { fail, type Json, type JsonObject, ok, type Result } from '../../kernel/index.ts';
import { artifactsOf, isMediaName, type MediaName } from './input.ts';
import { setField } from './set-field.ts';
import { droppedWords, fitValue } from './values.ts';

/** A neutral input in a model's own fields; files are still to be filled in, once they have addresses. */
export interface MappedInput {
  readonly body: JsonObject;
  readonly media: readonly MediaSlot[];
  /** The plain values that are really sent, by neutral name (`durationS` is what will be billed). */
  readonly values: JsonObject;
  /** What had to be changed to fit the model, in words for staff. */
  readonly adjustments: readonly string[];
}

interface MediaSlot {
  readonly field: FieldMapping;
  readonly artifacts: readonly Artifact[];
}

/** What is wrong with an input for this model: the neutral name, and words for the operator. */
export interface MappingFault {
  readonly name: string;
  readonly what: string;
}

/** Neutral names whose absence from a model must not pass unnoticed when a caller asks for them. */
const mustNotBeDropped: Readonly<Record<string, (value: Json) => boolean>> = {
  audio: (value) => value === true,
  count: (value) => typeof value === 'number' && value > 1,
};

/** Neutral names that a model without them leaves to its own preset: told, since the picture may look otherwise. */
const toldWhenDropped: ReadonlySet<string> = new Set(['ratio', 'resolution']);

/**
 * Turns a neutral input into the fields of a model, which are data in `config/providers.yaml`: translates names, spelling
 * and types, folds what must not appear into the prompt, checks every limit. Nothing is cut or dropped silently.
 */
export function mapInput(model: ModelSettings, input: JsonObject): Result<MappedInput, MappingFault> {
  const fields = model.fields ?? {};
  const body: Record<string, Json | undefined> = structuredClone(model.fixed ?? {});
  const adjustments: string[] = [];
  const sent: Record<string, Json> = {};
  const values = foldAvoid(input, fields);
  for (const name of new Set([...Object.keys(fields), ...Object.keys(values)])) {
    if (isMediaName(name)) continue;
    const given = values[name];
    const field = fields[name];
    if (field === undefined) {
      if (given !== undefined && mustNotBeDropped[name]?.(given) === true) {
        return fail({ name, what: `${model.id} cannot do ${name}: ${JSON.stringify(given)}` });
      }
      if (given !== undefined && toldWhenDropped.has(name)) adjustments.push(droppedWords(name, given));
      continue;
    }
    const value = given ?? field.default;
    if (value === undefined) {
      if (field.required === true) return fail({ name, what: `${model.id} needs ${name}` });
      continue;
    }
    const fitted = fitValue(name, value, field);
    if (!fitted.ok) return fail({ name, what: `${model.id}, ${name}: ${fitted.failure}` });
    if (fitted.value.adjusted !== undefined) adjustments.push(fitted.value.adjusted);
    sent[name] = fitted.value.value;
    setField(body, field.name, fitted.value.value);
  }
  const media = mapMedia(model, input);
  return media.ok ? ok({ body, media: media.value, values: sent, adjustments }) : media;
}

/** Puts the addresses of the files, by their hash, into the mapped body. */
export function fillMedia(mapped: MappedInput, urls: ReadonlyMap<string, string>): JsonObject {
  const body: Record<string, Json | undefined> = structuredClone(mapped.body);
  for (const { field, artifacts } of mapped.media) {
    const addresses = artifacts.map((artifact) => {
      const url = urls.get(artifact.hash);
      if (url === undefined) throw new Error(`no address for the file ${artifact.hash}`);
      return url;
    });
    const [first] = addresses;
    if (field.as === 'list') setField(body, field.name, addresses);
    else if (first !== undefined)
      for (const each of field.name.includes('#') ? addresses : [first]) setField(body, field.name, each);
  }
  return body;
}

function foldAvoid(input: JsonObject, fields: Readonly<Record<string, FieldMapping>>): JsonObject {
  const { avoid, prompt } = input;
  if (typeof avoid !== 'string' || avoid.trim() === '' || fields['avoid'] !== undefined) return input;
  const start = typeof prompt === 'string' ? `${prompt.trimEnd()}\n\n` : '';
  return { ...input, avoid: undefined, prompt: `${start}Must not appear: ${avoid.trim()}` };
}

function mapMedia(model: ModelSettings, input: JsonObject): Result<readonly MediaSlot[], MappingFault> {
  const fields = model.fields ?? {};
  const given = placeMedia(fields, input);
  const slots: MediaSlot[] = [];
  for (const name of ['images', 'firstFrame', 'lastFrame'] as const) {
    const field = fields[name];
    const artifacts = given[name];
    if (field === undefined) {
      if (artifacts.length > 0) return fail({ name, what: `${model.id} takes no ${name}` });
      continue;
    }
    if (artifacts.length === 0) {
      if (field.required === true) return fail({ name, what: `${model.id} needs at least one picture (${name})` });
      continue;
    }
    const max = field.max ?? (field.as === 'list' || field.name.includes('#') ? undefined : 1);
    if (max !== undefined && artifacts.length > max) {
      return fail({ name, what: `${artifacts.length} pictures, ${model.id} takes at most ${max}; use fewer` });
    }
    slots.push({ field, artifacts });
  }
  return ok(slots);
}

/**
 * Which files go under which of the model's names. A first frame and reference pictures exclude each other (Seedance,
 * toapis): with a first frame set, a model that knows one gets only that. A model without a name for the first frame
 * takes it as its first picture, and one without reference pictures takes the first picture as first frame.
 */
function placeMedia(
  fields: Readonly<Record<string, FieldMapping>>,
  input: JsonObject,
): Record<MediaName, readonly Artifact[]> {
  const images = artifactsOf(input, 'images');
  const firstFrame = artifactsOf(input, 'firstFrame');
  const lastFrame = artifactsOf(input, 'lastFrame');
  if (firstFrame.length > 0 && fields['firstFrame'] !== undefined) return { images: [], firstFrame, lastFrame };
  if (firstFrame.length > 0) return { images: [...firstFrame, ...images], firstFrame: [], lastFrame };
  if (images.length > 0 && fields['images'] === undefined && fields['firstFrame'] !== undefined) {
    return { images: [], firstFrame: images, lastFrame };
  }
  return { images, firstFrame: [], lastFrame };
}
