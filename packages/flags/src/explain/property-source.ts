import { isObject } from '@millrace/contracts';
import type { EvaluationContext } from '../evaluate/context.ts';
import { groupKeyOf } from '../evaluate/group-key.ts';
import { currentOf } from '../evaluate/initial-properties.ts';

/** Where the value of a property came from; see `propertyValues`, which has the values. */
export interface PropertySource {
  source: 'request' | 'distinct_id' | 'group_key' | 'stored' | 'missing' | 'unavailable';
  /** The property itself, or the one that stands in for a first value that nobody has. */
  property: string;
}

type Sources = Pick<EvaluationContext, 'personProperties' | 'groupProperties' | 'groups' | 'stored'>;

export function personSource(key: string, context: Sources): PropertySource {
  const own = ownPersonSource(key, context);
  if (own !== 'missing') return { source: own, property: key };
  const current = currentOf(key);
  const standsIn = current === undefined ? 'missing' : ownPersonSource(current, context);
  return current === undefined || standsIn === 'missing'
    ? { source: 'missing', property: key }
    : { source: standsIn, property: current };
}

function ownPersonSource(key: string, { personProperties, stored }: Sources): PropertySource['source'] {
  if (Object.hasOwn(personProperties, key)) return 'request';
  if (key === 'distinct_id') return 'distinct_id';
  return storedSource(stored.personProperties, key);
}

/** @param typeName of the group type; undefined where there is no such type. */
export function groupSource(
  key: string,
  { groupType, typeName }: { groupType: number; typeName: string | undefined },
  { groupProperties, groups, stored }: Sources,
): PropertySource {
  const ownKey = groupKeyOf(groups, typeName);
  if (key === '$group_key' && ownKey !== null) return { source: 'group_key', property: key };
  const sent =
    typeName !== undefined && Object.hasOwn(groupProperties, typeName) ? groupProperties[typeName] : undefined;
  if (isObject(sent) && Object.hasOwn(sent, key)) return { source: 'request', property: key };
  if (ownKey === null) return { source: 'missing', property: key };
  const { groupProperties: all } = stored;
  return { source: storedSource(all === 'unavailable' ? all : (all.get(groupType) ?? {}), key), property: key };
}

function storedSource(properties: Record<string, unknown> | 'unavailable', key: string): PropertySource['source'] {
  if (properties === 'unavailable') return 'unavailable';
  return Object.hasOwn(properties, key) ? 'stored' : 'missing';
}
