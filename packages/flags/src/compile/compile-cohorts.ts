// Prepares cohort definitions for evaluation, including cohorts that reference other cohorts.

import { isObject } from '@millrace/contracts';
import type { CohortDefinition } from '../definitions.ts';
import type { TestOptions } from '../filters/value-operators.ts';
import type { Steps } from '../steps.ts';
import { compileCohortFilter, compilePropertyFilter } from './compile-filter.ts';
import type { CohortNode, CohortProblem, CompiledCohort } from './compiled.ts';

/** Maximum depth of a filter tree, which protects against stack overflow. Real trees are much shallower. */
const deepestTree = 100;
/** Maximum number of cohorts in a chain in which each cohort references the next cohort. */
const longestChain = 500;

/** Compiles all of a project's cohorts. A problem of a cohort also applies to all cohorts that reference it. */
export function* compileCohorts(
  definitions: CohortDefinition[],
  options: TestOptions,
): Steps<Map<number, CompiledCohort>> {
  const cohorts = new Map<number, CompiledCohort>();
  for (const definition of definitions) {
    cohorts.set(definition.id, compileCohort(definition, options));
    yield;
  }
  const settled = new Map<number, CohortProblem | null>();

  /**
   * Returns what is wrong with a cohort, or null for a valid cohort.
   * @param path the IDs of the cohorts that led to this cohort. An ID that repeats is a cycle.
   */
  function problemOf(id: number, path: Set<number>): CohortProblem | null {
    const known = settled.get(id);
    if (known !== undefined) return known;
    const cohort = cohorts.get(id);
    if (cohort === undefined) return 'dependency_not_found_cohort';
    if (path.has(id)) return 'dependency_cycle_cohort';
    if (path.size >= longestChain) return 'cohort_filters_parsing_error';
    path.add(id);
    const problem = cohort.problem ?? firstProblem(referencesIn(cohort.node), path);
    path.delete(id);
    // In a cycle, the first problem found depends on where the search starts, so store only the problem of the starting
    // cohort.
    if (problem === null || path.size === 0) settled.set(id, problem);
    return problem;
  }
  function firstProblem(ids: number[], path: Set<number>): CohortProblem | null {
    for (const id of ids) {
      const problem = problemOf(id, path);
      if (problem !== null) return problem;
    }
    return null;
  }

  for (const [id, cohort] of cohorts) {
    cohorts.set(id, { ...cohort, problem: problemOf(id, new Set()) });
    yield;
  }
  return cohorts;
}

function compileCohort({ id, isStatic, tree }: CohortDefinition, options: TestOptions): CompiledCohort {
  if (isStatic) return { id, isStatic, node: { kind: 'never' }, problem: null };
  if (isDeeper(tree, deepestTree)) {
    return { id, isStatic, node: { kind: 'never' }, problem: 'cohort_filters_parsing_error' };
  }
  return { id, isStatic, node: compileNode(tree, options), problem: null };
}

/** Compiles a group of nodes or a single filter. Empty, unknown and behavioral nodes have no members. */
function compileNode(tree: unknown, options: TestOptions): CohortNode {
  if (!isObject(tree)) return { kind: 'never' };
  if (Object.hasOwn(tree, 'values')) return compileGroup(tree, options);
  const negated = tree.negation === true;
  switch (tree.type) {
    case 'person':
      return { kind: 'property', filter: compilePropertyFilter(tree, null, options), negated };
    case 'cohort': {
      const filter = compileCohortFilter(tree);
      return filter === null
        ? { kind: 'never' }
        : { kind: 'cohort', cohortId: filter.cohortId, negated: negated !== !filter.isMember };
    }
    default:
      return { kind: 'never' };
  }
}

function compileGroup({ type, values }: Record<string, unknown>, options: TestOptions): CohortNode {
  const nodes = (Array.isArray(values) ? values : []).map((value) => compileNode(value, options));
  if (nodes.length === 0) return { kind: 'never' };
  return { kind: type === 'OR' ? 'some' : 'every', nodes };
}

function referencesIn(node: CohortNode): number[] {
  if (node.kind === 'cohort') return [node.cohortId];
  return node.kind === 'every' || node.kind === 'some' ? node.nodes.flatMap(referencesIn) : [];
}

function isDeeper(tree: unknown, levels: number): boolean {
  if (!isObject(tree) || !Array.isArray(tree.values)) return false;
  return levels === 0 || tree.values.some((value) => isDeeper(value, levels - 1));
}
