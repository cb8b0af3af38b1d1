// Determines which stored data the evaluation of a request needs.

import { isObject } from '@millrace/contracts';
import type { CompiledFlag, CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext } from './context.ts';
import { findCurrentProperty, readGroupKey } from './property-values.ts';

/** The stored data to load before an evaluation. All lists are empty if the request itself contains enough data. */
export interface NeededData {
  personProperties: readonly string[];
  /** The groups whose stored properties are required, with the property names. */
  groups: { groupType: number; key: string; properties: readonly string[] }[];
  /** Static cohorts for which the evaluation must know whether the person is a member. */
  staticCohorts: number[];
  hashKeyOverrides: boolean;
}

/**
 * Determines the stored data that the flags need in addition to the request.
 * @param request the context without stored data
 */
export function findNeededData(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  request: Omit<EvaluationContext, 'stored' | 'now'>,
): NeededData {
  const staticCohorts = new Set<number>();
  const personProperties = new Set<string>();
  const groups = new Map<number, NeededGroup>();
  let hashKeyOverrides = false;
  for (const { needs } of selected) {
    for (const id of needs.staticCohorts) staticCohorts.add(id);
    for (const { groupType, keys } of needs.groupProperties) addGroup(groupType, keys);
    for (const key of needs.personProperties) addPersonProperty(key);
    hashKeyOverrides ||= needs.hashKeyOverride;
  }
  return {
    personProperties: [...personProperties],
    groups: [...groups].map(([groupType, { key, properties }]) => ({ groupType, key, properties: [...properties] })),
    staticCohorts: [...staticCohorts],
    hashKeyOverrides,
  };

  function addPersonProperty(key: string): void {
    if (key === 'distinct_id' || Object.hasOwn(request.personProperties, key)) return;
    personProperties.add(key);
    const current = findCurrentProperty(key);
    if (current !== undefined && !Object.hasOwn(request.personProperties, current)) personProperties.add(current);
  }
  function addGroup(groupType: number, keys: readonly string[]): void {
    const known = groups.get(groupType) ?? requestedGroup(flags, request, groupType);
    if (known === null) return;
    for (const key of keys) if (key !== '$group_key' && !Object.hasOwn(known.sent, key)) known.properties.add(key);
    if (known.properties.size > 0) groups.set(groupType, known);
  }
}

interface NeededGroup {
  key: string;
  sent: Record<string, unknown>;
  properties: Set<string>;
}

/** Returns the request's group of this type, or null if the request does not contain one. */
function requestedGroup(
  { groupTypes }: CompiledFlags,
  { groups, groupProperties }: Pick<EvaluationContext, 'groups' | 'groupProperties'>,
  groupType: number,
): NeededGroup | null {
  const name = groupTypes.get(groupType);
  const key = readGroupKey(groups, name);
  if (name === undefined || key === null) return null;
  const sent = Object.hasOwn(groupProperties, name) ? groupProperties[name] : {};
  return { key, sent: isObject(sent) ? sent : {}, properties: new Set() };
}
