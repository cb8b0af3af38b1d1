import { isObject } from '@millrace/contracts';
import type { CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext } from './context.ts';
import { groupKeyOf } from './group-key.ts';
import { currentOf } from './initial-properties.ts';

/** There is no such property. JSON null is a value. */
export const missing = Symbol('missing');
/** It may be stored, and the store could not be asked. */
export const unavailable = Symbol('unavailable');

/** The values of one evaluation. */
export interface PropertyValues {
  /** The request's value, else the distinct id under its own name, else the stored one; else what stands in for a first value. */
  person(key: string): unknown;
  /** The group's key under `$group_key`, else the request's value, else the stored one. */
  group(groupType: number, key: string): unknown;
  /** The key of the group the request names, as text; null when it names none. */
  groupKey(groupType: number): string | null;
}

export function propertyValues(
  { groupTypes }: Pick<CompiledFlags, 'groupTypes'>,
  context: EvaluationContext,
): PropertyValues {
  const { personProperties, groupProperties, groups, stored } = context;

  function ownPerson(key: string): unknown {
    if (Object.hasOwn(personProperties, key)) return personProperties[key];
    if (key === 'distinct_id') return context.distinctId;
    return storedValue(stored.personProperties, key);
  }
  const groupKey = (groupType: number) => groupKeyOf(groups, groupTypes.get(groupType));

  return {
    person(key) {
      const value = ownPerson(key);
      if (value !== missing) return value;
      const current = currentOf(key);
      return current === undefined ? missing : ownPerson(current);
    },
    group(groupType, key) {
      const ownKey = groupKey(groupType);
      if (key === '$group_key' && ownKey !== null) return ownKey;
      const name = groupTypes.get(groupType) ?? '';
      const sent = Object.hasOwn(groupProperties, name) ? groupProperties[name] : undefined;
      if (isObject(sent) && Object.hasOwn(sent, key)) return sent[key];
      if (ownKey === null) return missing;
      if (stored.groupProperties === 'unavailable') return unavailable;
      return storedValue(stored.groupProperties.get(groupType) ?? {}, key);
    },
    groupKey,
  };
}

function storedValue(properties: Record<string, unknown> | 'unavailable', key: string): unknown {
  if (properties === 'unavailable') return unavailable;
  return Object.hasOwn(properties, key) ? properties[key] : missing;
}
