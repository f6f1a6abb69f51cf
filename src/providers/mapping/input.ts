import { type Artifact, artifactSchema } from '../../contract/index.ts';
import type { Json, JsonObject } from '../../kernel/index.ts';

/** Neutral names that hold files; all others hold plain values. */
const mediaNames = ['images', 'firstFrame', 'lastFrame'] as const;
export type MediaName = (typeof mediaNames)[number];

export function isMediaName(name: string): name is MediaName {
  return mediaNames.some((each) => each === name);
}

/** The files of a neutral input under one name, as a list. */
export function artifactsOf(input: JsonObject, name: MediaName): readonly Artifact[] {
  const value: unknown = input[name];
  const list: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.map((each) => artifactSchema.parse(each));
}

/** Characters as a person counts them when limits are given: code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

export function describeJson(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
