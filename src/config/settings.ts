import { formatDuration, isJsonObject } from '../kernel/index.ts';
import { type Settings, settingsSchema } from '../contract/index.ts';
import { type ConfigFault, faultAt, type Place } from './fault.ts';
import { applyOverrides, type Override, readOverrides, type RecordKeys } from './overrides.ts';
import { publishedSchema, readBySchema, valueAt } from './schema-faults.ts';
import { suggestName } from './suggest.ts';
import type { Variable, Variables } from './variables.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/** The names that settings may use as keys. */
export interface SettingNames {
  readonly agents: readonly string[];
  /** Provider accounts and vendors. */
  readonly providers: readonly string[];
}

/** Reads `config/gridloom.yaml` under the overrides of the environment. */
export function readSettings(
  source: YamlFile,
  variables: Variables,
  names: SettingNames,
): { readonly settings?: Settings; readonly faults: readonly ConfigFault[] } {
  if (source.value === undefined) return { faults: source.faults };
  const recordKeys = createRecordKeys(source.value, names);
  const { overrides, faults } = readOverrides(variables, publishedSchema(settingsSchema), source.value, recordKeys);
  const merged = withOverrides(source, overrides);
  const read = readBySchema(merged, settingsSchema);
  const contradictions = read.value === undefined ? [] : findContradictions(merged, read.value, overrides);
  const strangers = findStrangers(source, recordKeys);
  return {
    ...(read.value === undefined ? {} : { settings: read.value }),
    faults: [...source.faults, ...faults, ...read.faults, ...contradictions, ...strangers],
  };
}

/** The same file with the overrides' values, each placed at its variable. */
function withOverrides(source: YamlFile, overrides: readonly Override[]): YamlFile {
  const variableAt = (path: Path): Variable | undefined =>
    overrides.find((override) => override.path.join(' ') === path.join(' '))?.variable;
  return {
    ...source,
    value: applyOverrides(source.value, overrides),
    placeOf: (path) => variableAt(path)?.place ?? source.placeOf(path),
    placeOfKey: (path) => variableAt(path)?.place ?? source.placeOfKey(path),
    nameOf: (path) => variableAt(path)?.name ?? source.nameOf(path),
  };
}

const recordPaths = [
  'balance.threshold',
  'money.rates',
  'money.credit',
  'limits.concurrency',
  'limits.rate',
  'limits.daily_cost',
  'limits.row_cost',
] as const;

function createRecordKeys(value: unknown, names: SettingNames): RecordKeys {
  const written = (path: string): readonly string[] => {
    const record = valueAt(value, path.split('.'));
    return isJsonObject(record) ? Object.keys(record) : [];
  };
  const keys: Readonly<Record<(typeof recordPaths)[number], readonly string[]>> = {
    'balance.threshold': ['default', ...names.providers],
    'money.rates': written('money.rates'),
    'money.credit': [...written('money.credit'), ...names.providers],
    'limits.concurrency': [...names.providers, ...names.agents],
    'limits.rate': names.providers,
    'limits.daily_cost': names.agents,
    'limits.row_cost': names.agents,
  };
  return (path) => {
    const name = recordPaths.find((candidate) => candidate === path.join('.'));
    return name === undefined ? undefined : keys[name];
  };
}

/** Keys of records that name no agent and no provider: a limit on nobody limits nothing. */
function findStrangers(source: YamlFile, recordKeys: RecordKeys): readonly ConfigFault[] {
  return recordPaths.flatMap((name) => {
    const path = name.split('.');
    const known = recordKeys(path) ?? [];
    const record = valueAt(source.value, path);
    const strangers = isJsonObject(record) ? Object.keys(record).filter((key) => !known.includes(key)) : [];
    return strangers.map((key) =>
      faultAt(source.placeOfKey([...path, key]), `"${name}.${key}" names nobody`, suggestName(key, known)),
    );
  });
}

/**
 * Settings that cannot both be meant: the shorter one would act, and the longer one would be a lie. Only values written in
 * the same place are held against each other: one override of the environment may well undercut a shipped default.
 */
function findContradictions(
  source: YamlFile,
  settings: Settings,
  overrides: readonly Override[],
): readonly ConfigFault[] {
  const lengthMs = (name: string): number => Number(valueAt(settings, name.split('.')));
  const isOverridden = (name: string): boolean => overrides.some((override) => override.path.join('.') === name);
  const place = (name: string): Place => source.placeOf(name.split('.'));
  const contradictory = orderedPairs.filter(
    ([shorter, longer]) => lengthMs(shorter) > lengthMs(longer) && isOverridden(shorter) === isOverridden(longer),
  );
  return [
    ...contradictory.map(([shorter, longer]) =>
      faultAt(
        place(shorter),
        `${shorter} (${formatDuration(lengthMs(shorter))}) is longer than ${longer} (${formatDuration(lengthMs(longer))})`,
        'shorten the first or lengthen the second',
      ),
    ),
    ...neverZero
      .filter((name) => lengthMs(name) === 0)
      .map((name) => faultAt(place(name), `${name} is 0`, 'give it a length above 0')),
  ];
}

const kinds = ['text', 'image', 'video'] as const;

const orderedPairs: readonly (readonly [string, string])[] = [
  ['timeouts.connect', 'timeouts.submit'],
  ['timeouts.connect', 'timeouts.query'],
  ['timeouts.connect', 'timeouts.text'],
  ...kinds.flatMap((kind) => [
    [`vendor_poll.${kind}.first`, `vendor_poll.${kind}.deadline`] as const,
    [`vendor_poll.${kind}.interval`, `vendor_poll.${kind}.deadline`] as const,
  ]),
];

/** Lengths whose zero would mean a busy loop or a call without a limit. */
const neverZero: readonly string[] = [
  'poll.interval',
  'balance.interval',
  ...['connect', 'submit', 'query', 'text', 'transfer_idle'].map((name) => `timeouts.${name}`),
  ...kinds.flatMap((kind) => [`vendor_poll.${kind}.interval`, `vendor_poll.${kind}.deadline`]),
];
