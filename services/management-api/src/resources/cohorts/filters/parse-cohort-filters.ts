import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { CohortFilters, CohortGroup, CohortLeaf } from './cohort-tree.ts';
import { parseLeaf } from './parse-leaf.ts';

/** More than anybody makes by hand; counting looks at each for every person. */
const mostLeaves = 1000;

/**
 * Checks what a request says a cohort is made of, and writes operators and ids in their usual forms.
 * @throws AppError `invalid` with attr `filters`.
 */
export function parseCohortFilters(sent: Record<string, unknown>): CohortFilters {
  const { properties } = sent;
  if (!isObject(properties) || !Object.hasOwn(properties, 'type') || !Array.isArray(properties.values)) {
    throw filtersError("Must contain a 'properties' key with type and values");
  }
  let leaves = 0;

  function parseNode(node: unknown): CohortGroup | CohortLeaf {
    if (!isObject(node)) throw filtersError('Every filter must be a dictionary.');
    if (Object.hasOwn(node, 'values')) return parseGroup(node);
    leaves += 1;
    if (leaves > mostLeaves) throw filtersError(`A cohort has at most ${mostLeaves} filters.`);
    return parseLeaf(node);
  }
  function parseGroup({ type, values, ...others }: Record<string, unknown>): CohortGroup {
    const [unknownKey] = Object.keys(others);
    if (unknownKey !== undefined) throw filtersError(`A group of filters has no key '${unknownKey.slice(0, 100)}'.`);
    if (type !== 'AND' && type !== 'OR') throw filtersError("The type of a group of filters must be 'AND' or 'OR'.");
    if (!Array.isArray(values)) throw filtersError('The values of a group of filters must be a list.');
    return { type, values: values.map(parseNode) };
  }
  return { properties: parseGroup(properties) };
}

export function filtersError(detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', detail, { code, attr: 'filters' });
}
