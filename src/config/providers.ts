import type { ProviderAccount, ProviderDefinition } from '../contract/index.ts';
import { Secret } from '../kernel/index.ts';
import type { Sourced } from './definitions.ts';
import { type ConfigFault, faultAt } from './fault.ts';
import { fillFromEnvironment, namesIn } from './templates.ts';
import { readBaseUrl } from './urls.ts';
import type { Variables } from './variables.ts';
import type { Path } from './yaml-file.ts';

/** An account whose key is set: what its adapters are built with. */
export interface ActiveProvider {
  readonly id: string;
  readonly definition: ProviderDefinition;
  readonly account: ProviderAccount;
}

export interface ReadProviders {
  /** Every provider, with what the environment gives put in where it gives it. */
  readonly definitions: ReadonlyMap<string, ProviderDefinition>;
  readonly active: readonly ActiveProvider[];
  /** Left out for want of a key: id → the variables that would switch it on. */
  readonly inactive: ReadonlyMap<string, readonly string[]>;
  readonly faults: readonly ConfigFault[];
}

/** Resolves `${NAME}` and `${NAME:-preset}`; a provider whose key is not set is left out, whatever else it lacks. */
export function resolveProviders(
  providers: ReadonlyMap<string, Sourced<ProviderDefinition>>,
  variables: Variables,
  noProxyForApi: boolean,
): ReadProviders {
  const valueOf = (name: string): string | undefined => variables.get(name)?.value;
  const definitions = new Map<string, ProviderDefinition>();
  const active: ActiveProvider[] = [];
  const inactive = new Map<string, readonly string[]>();
  const faults: ConfigFault[] = [];
  for (const [id, sourced] of providers) {
    const key = fillFromEnvironment(sourced.definition.key, valueOf);
    if (!key.ok || key.value === '') {
      inactive.set(
        id,
        namesIn(sourced.definition.key).map(({ name }) => name),
      );
      definitions.set(id, sourced.definition);
      continue;
    }
    if (namesIn(sourced.definition.key).length === 0) {
      const place = sourced.source.placeOf([...sourced.base, 'key']);
      faults.push(faultAt(place, 'a key stands in the file', 'write key: ${NAME} and set NAME in .env'));
    }
    const resolved = resolveOne(sourced, valueOf, faults);
    definitions.set(id, resolved);
    active.push({ id, definition: resolved, account: accountOf(id, resolved, key.value, noProxyForApi) });
  }
  return { definitions, active, inactive, faults };
}

function resolveOne(
  sourced: Sourced<ProviderDefinition>,
  valueOf: (name: string) => string | undefined,
  faults: ConfigFault[],
): ProviderDefinition {
  const { definition, source, base } = sourced;
  const fill = (text: string, path: Path): string => {
    const filled = fillFromEnvironment(text, valueOf);
    if (filled.ok) return filled.value;
    const advice = `set ${filled.failure.join(' and ')} beside ${namesIn(definition.key)
      .map(({ name }) => name)
      .join()}`;
    faults.push(faultAt(source.placeOf([...base, ...path]), `${filled.failure.join(', ')} is missing`, advice));
    return '';
  };
  const fillUrl = (text: string, member: string): string => {
    const filled = fill(text, [member]);
    if (filled === '') return filled;
    const url = readBaseUrl(filled);
    if (url.ok) return url.value;
    const named =
      namesIn(text)
        .map(({ name }) => name)
        .join() || member;
    faults.push(faultAt(source.placeOf([...base, member]), `${named} is not usable`, url.failure));
    return '';
  };
  const models = Object.entries(definition.models).map(
    ([name, model]) => [name, { ...model, model: fill(model.model, ['models', name, 'model']) }] as const,
  );
  return {
    ...definition,
    base_url: fillUrl(definition.base_url, 'base_url'),
    ...(definition.upload_base_url === undefined
      ? {}
      : { upload_base_url: fillUrl(definition.upload_base_url, 'upload_base_url') }),
    models: Object.fromEntries(models),
  };
}

function accountOf(id: string, definition: ProviderDefinition, key: string, noProxyForApi: boolean): ProviderAccount {
  return {
    id,
    baseUrl: definition.base_url,
    ...(definition.upload_base_url === undefined ? {} : { uploadBaseUrl: definition.upload_base_url }),
    key: new Secret(key),
    proxy: definition.proxy ?? (noProxyForApi ? 'direct' : 'env'),
  };
}
