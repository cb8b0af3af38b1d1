import { isObject } from '@millrace/contracts';
import type { CompiledFlag, CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext } from './context.ts';
import { groupKeyOf } from './group-key.ts';

/** What has to be read before an evaluation; all empty where the request says enough. */
export interface NeededData {
  personProperties: boolean;
  /** Groups whose stored properties are needed. */
  groups: { groupType: number; key: string }[];
  /** Static cohorts of which the person's membership is needed. */
  staticCohorts: number[];
  hashKeyOverrides: boolean;
}

/**
 * What the given flags need beyond what the request itself says.
 * @param request the context, without anything stored
 */
export function neededData(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  request: Omit<EvaluationContext, 'stored' | 'now'>,
): NeededData {
  const staticCohorts = new Set<number>();
  const groups = new Map<number, string>();
  let personProperties = false;
  let hashKeyOverrides = false;
  for (const { needs } of selected) {
    for (const id of needs.staticCohorts) staticCohorts.add(id);
    for (const { groupType, keys } of needs.groupProperties) {
      const group = groupToRead(flags, request, groupType, keys);
      if (group !== null) groups.set(groupType, group);
    }
    personProperties ||= !isSent(request.personProperties, needs.personProperties, 'distinct_id');
    hashKeyOverrides ||= needs.hashKeyOverride;
  }
  return {
    personProperties,
    groups: [...groups].map(([groupType, key]) => ({ groupType, key })),
    staticCohorts: [...staticCohorts],
    hashKeyOverrides,
  };
}

/** The key of the group whose stored properties are needed; null when the request names no group, or all its properties. */
function groupToRead(
  { groupTypes }: CompiledFlags,
  { groups, groupProperties }: Pick<EvaluationContext, 'groups' | 'groupProperties'>,
  groupType: number,
  keys: readonly string[],
): string | null {
  const name = groupTypes.get(groupType);
  const key = groupKeyOf(groups, name);
  if (name === undefined || key === null) return null;
  const sent = Object.hasOwn(groupProperties, name) ? groupProperties[name] : {};
  return isSent(isObject(sent) ? sent : {}, keys, '$group_key') ? null : key;
}

/** @param alwaysKnown a key that has its value from elsewhere */
function isSent(properties: Record<string, unknown>, keys: readonly string[], alwaysKnown: string): boolean {
  for (const key of keys) {
    if (key !== alwaysKnown && !Object.hasOwn(properties, key)) return false;
  }
  return true;
}
