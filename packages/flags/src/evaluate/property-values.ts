// Finds the value of a property that a filter tests, in the request or in the stored data.

import { isObject } from '@millrace/contracts';
import type { CompiledFlags } from '../compile/compiled.ts';
import { PropertyValue } from '../filters/value-operators.ts';
import { toComparableText } from '../values.ts';
import type { EvaluationContext } from './context.ts';

/** The value of a property that does not exist. A property that is JSON null does exist. */
export const missing: unique symbol = Symbol('missing');
/** The value of a property whose stored value could not be loaded. */
export const unavailable: unique symbol = Symbol('unavailable');

export type Found = PropertyValue | typeof missing | typeof unavailable;

export interface PropertyValues {
  /**
   * Returns the value of a person property. The sources in order of precedence are the request, the distinct ID (for
   * the property `distinct_id`), the stored properties, and for an `$initial_` property the property without this
   * prefix.
   */
  person(key: string): Found;
  /**
   * Returns the value of a group property. The sources in order of precedence are the group key (for the property
   * `$group_key`), the request, and the stored properties.
   */
  group(groupType: number, key: string): Found;
  /** Returns the key of the request's group of this type as a string, or null if the request does not contain one. */
  groupKey(groupType: number): string | null;
}

export function createPropertyValues(
  { groupTypes }: Pick<CompiledFlags, 'groupTypes'>,
  context: EvaluationContext,
): PropertyValues {
  const { personProperties, groupProperties, groups, stored } = context;
  const ofPerson = new Map<string, Found>();
  const ofGroups = new Map<number, Map<string, Found>>();

  function findPerson(key: string): unknown {
    const value = ownPerson(key);
    if (value !== missing) return value;
    const current = findCurrentProperty(key);
    return current === undefined ? missing : ownPerson(current);
  }
  function ownPerson(key: string): unknown {
    if (Object.hasOwn(personProperties, key)) return personProperties[key];
    if (key === 'distinct_id') return context.distinctId;
    return storedValue(stored.personProperties, key);
  }
  function findGroup(groupType: number, key: string): unknown {
    const ownKey = groupKey(groupType);
    if (key === '$group_key' && ownKey !== null) return ownKey;
    const name = groupTypes.get(groupType) ?? '';
    const sent = Object.hasOwn(groupProperties, name) ? groupProperties[name] : undefined;
    if (isObject(sent) && Object.hasOwn(sent, key)) return sent[key];
    if (ownKey === null) return missing;
    if (stored.groupProperties === 'unavailable') return unavailable;
    return storedValue(stored.groupProperties.get(groupType) ?? {}, key);
  }
  const groupKey = (groupType: number) => readGroupKey(groups, groupTypes.get(groupType));

  return {
    person: (key) => ofPerson.get(key) ?? remember(ofPerson, key, findPerson(key)),
    group(groupType, key) {
      const ofGroup = ofGroups.get(groupType) ?? new Map<string, Found>();
      ofGroups.set(groupType, ofGroup);
      return ofGroup.get(key) ?? remember(ofGroup, key, findGroup(groupType, key));
    },
    groupKey,
  };
}

function remember(found: Map<string, Found>, key: string, value: unknown): Found {
  const kept = value === missing || value === unavailable ? (value as Found) : new PropertyValue(value);
  found.set(key, kept);
  return kept;
}

function storedValue(properties: Record<string, unknown> | 'unavailable', key: string): unknown {
  if (properties === 'unavailable') return unavailable;
  return Object.hasOwn(properties, key) ? properties[key] : missing;
}

const fromSession =
  '$app_build $app_name $app_namespace $app_version $browser $browser_version $device_type $current_url $pathname $os ' +
  '$os_version $referring_domain $referrer $screen_height $screen_width $viewport_height $viewport_width ' +
  '$raw_user_agent utm_source utm_medium utm_campaign utm_content utm_term gclid gad_source gclsrc dclid gbraid wbraid ' +
  'fbclid msclkid twclid li_fat_id mc_cid igshid ttclid rdt_cid epik qclid sccid irclid _kx';

/**
 * Maps an initial property to the current property that replaces it if it is missing (`$initial_browser` to
 * `$browser`).
 */
const currentByInitial = new Map(
  fromSession.split(' ').map((current) => [`$initial_${current.replace(/^\$/, '')}`, current]),
);

export function findCurrentProperty(initial: string): string | undefined {
  return currentByInitial.get(initial);
}

/**
 * Returns the key of the request's group of this type as a string, or null if the request has no such group. Clients
 * may send keys as strings or numbers.
 */
export function readGroupKey(groups: Record<string, unknown>, typeName: string | undefined): string | null {
  const key = typeName === undefined || !Object.hasOwn(groups, typeName) ? undefined : groups[typeName];
  if (typeof key === 'number') return toComparableText(key);
  return typeof key === 'string' && key !== '' ? key : null;
}
