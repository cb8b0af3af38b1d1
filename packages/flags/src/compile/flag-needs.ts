// Determines which data a flag's evaluation requires, such as person properties.

import type { SharedPattern } from '../filters/patterns.ts';
import {
  type CohortNode,
  type CompiledCohort,
  type CompiledCondition,
  type CompiledFlag,
  type FlagNeeds,
  type PropertyFilter,
  shareIfEmpty,
} from './compiled.ts';

/** The needs of flags that depend only on the ID. */
export const noNeeds: FlagNeeds = Object.freeze({
  personProperties: [],
  groupProperties: [],
  staticCohorts: [],
  hashKeyOverride: false,
  patterns: [],
});

/** Collects which data a flag's filters use, including the filters of its cohorts. */
export function collectFlagNeeds(flag: CompiledFlag, cohorts: ReadonlyMap<number, CompiledCohort>): FlagNeeds {
  const { person, groups, staticCohorts, patterns, addCondition } = collectNeeds(cohorts);
  const { enrollment } = flag;
  if (enrollment?.kind === 'property') person.add(enrollment.property);
  if (enrollment?.kind === 'super_condition') addCondition(enrollment.condition);
  for (const condition of flag.conditions) addCondition(condition);
  const hashKeyOverride = flag.keepsExperience && !isSameForAll(flag);
  if (person.size + groups.size + staticCohorts.size === 0 && !hashKeyOverride) return noNeeds;
  return {
    personProperties: shareIfEmpty([...person]),
    groupProperties: shareIfEmpty([...groups].map(([groupType, keys]) => ({ groupType, keys: [...keys] }))),
    staticCohorts: shareIfEmpty([...staticCohorts]),
    hashKeyOverride,
    patterns: shareIfEmpty([...patterns]),
  };
}

export function collectCohortNeeds(
  id: number,
  cohorts: ReadonlyMap<number, CompiledCohort>,
): Pick<FlagNeeds, 'personProperties' | 'staticCohorts'> {
  const { person, staticCohorts, addCohort } = collectNeeds(cohorts);
  addCohort(id);
  return { personProperties: [...person], staticCohorts: [...staticCohorts] };
}

function collectNeeds(cohorts: ReadonlyMap<number, CompiledCohort>) {
  const person = new Set<string>();
  const groups = new Map<number, Set<string>>();
  const staticCohorts = new Set<number>();
  const patterns = new Set<SharedPattern>();
  const visited = new Set<number>();
  return { person, groups, staticCohorts, patterns, addCondition, addCohort };

  function addCondition({ filters, cohortFilters }: CompiledCondition): void {
    for (const filter of filters) if (filter.kind === 'property') addProperty(filter);
    for (const { cohortId } of cohortFilters) addCohort(cohortId);
  }
  function addProperty({ key, groupType, compiled }: PropertyFilter): void {
    const { pattern } = compiled.test;
    if (pattern !== undefined) patterns.add(pattern);
    if (groupType === null) person.add(key);
    else groups.set(groupType, (groups.get(groupType) ?? new Set()).add(key));
  }
  function addCohort(id: number): void {
    const cohort = cohorts.get(id);
    if (cohort === undefined || visited.has(id)) return;
    visited.add(id);
    if (cohort.isStatic) staticCohorts.add(id);
    else addNode(cohort.node);
  }
  function addNode(node: CohortNode): void {
    if (node.kind === 'property') addProperty(node.filter);
    else if (node.kind === 'cohort') addCohort(node.cohortId);
    else if (node.kind !== 'never') for (const inner of node.nodes) addNode(inner);
  }
}

/** Returns true if all persons who match get the same value, so that it does not matter which ID is hashed. */
function isSameForAll({ conditions, variants }: CompiledFlag): boolean {
  return variants.length === 0 && conditions.every(({ rolloutPercentage }) => rolloutPercentage === 100);
}
