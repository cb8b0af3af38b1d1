/** What a cohort's filters hold, once they were checked. */
export interface CohortFilters {
  properties: CohortGroup;
}
export interface CohortGroup {
  type: 'AND' | 'OR';
  values: (CohortGroup | CohortLeaf)[];
}
/** A filter of one of three kinds, told by `type`. */
export type CohortLeaf = Record<string, unknown> & { type: 'person' | 'cohort' | 'behavioral' };

/** All filters of a tree, wherever they stand in it. */
export function leavesOf({ values }: CohortGroup): CohortLeaf[] {
  return values.flatMap((value) => ('values' in value ? leavesOf(value as CohortGroup) : [value as CohortLeaf]));
}

/** The cohorts a tree names. */
export function cohortsNamedIn(tree: CohortGroup): number[] {
  return [...new Set(leavesOf(tree).flatMap((leaf) => (leaf.type === 'cohort' ? [Number(leaf.value)] : [])))];
}
