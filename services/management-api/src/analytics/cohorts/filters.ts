// Validates a dynamic cohort's filters, and converts older filter formats.

import { isObject } from '@millrace/contracts';
import { cohortFilterTypes, propertyOperators, readCohortFilterId } from '@millrace/flags';
import { AppError } from '@millrace/runtime';
import { longestNeedle } from '../../sql/longest-needle.ts';

/**
 * Maximum number of filters. Counting a cohort evaluates each filter for every person. The limit is far above what
 * users create by hand.
 */
const maxLeaves = 1000;

/**
 * Validates the filters of a cohort and normalizes operators and cohort IDs.
 * @throws AppError `invalid` with attr `filters`
 */
export function parseCohortFilters(sent: Record<string, unknown>): CohortFilters {
  const { properties } = sent;
  if (!isObject(properties) || !Object.hasOwn(properties, 'type') || !Array.isArray(properties.values)) {
    throw createFiltersError("Must contain a 'properties' key with type and values");
  }
  let leaves = 0;

  function parseNode(node: unknown, path: string): CohortGroup | CohortLeaf {
    if (!isObject(node)) throw createFiltersError('Every filter must be an object.');
    if (Object.hasOwn(node, 'values')) return parseGroup(node, path);
    leaves += 1;
    if (leaves > maxLeaves) throw createFiltersError(`A cohort can have at most ${maxLeaves} filters.`);
    return parseLeaf(node, path);
  }
  function parseGroup({ type, values, ...others }: Record<string, unknown>, path: string): CohortGroup {
    const [unknownKey] = Object.keys(others);
    if (unknownKey !== undefined)
      throw createFiltersError(
        `'${unknownKey.slice(0, 100)}' is not allowed in a filter group. Use 'type' and 'values'.`,
      );
    if (type !== 'AND' && type !== 'OR')
      throw createFiltersError("The 'type' of a filter group must be 'AND' or 'OR'.");
    if (!Array.isArray(values)) throw createFiltersError("The 'values' of a filter group must be a list.");
    return { type, values: values.map((node, at) => parseNode(node, `${path}.values.${at}`)) };
  }
  return { properties: parseGroup(properties, 'properties') };
}

export function createFiltersError(detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', detail, { code, attr: 'filters' });
}

/** Operator aliases that some scripts send, mapped to the operators that are stored instead. */
const operatorAliases: Record<string, string> = { min: 'gte', max: 'lte' };
const withoutValue = new Set(['is_set', 'is_not_set']);
/** Operators that compare the whole value. For all other operators, the length of the value is limited. */
const comparesWhole = new Set(['exact', 'is_not']);

/** @throws AppError `invalid` with attr `filters` */
function parseLeaf(leaf: Record<string, unknown>, path: string): CohortLeaf {
  if (cohortFilterTypes.has(leaf.type)) return parseCohortLeaf(leaf);
  switch (leaf.type) {
    case 'person':
      return parsePersonLeaf(leaf);
    case 'behavioral':
      throw leafError(`${path}: Behavioral filters are not supported. Use filters of type 'person' or 'cohort'.`);
    default:
      throw leafError("The 'type' of a filter must be 'person' or 'cohort'.");
  }
}

function parsePersonLeaf(leaf: Record<string, unknown>): CohortLeaf {
  requireKeys('person', leaf, ['key', 'operator']);
  const operator = operatorAliases[String(leaf.operator)] ?? leaf.operator;
  if (!withoutValue.has(String(operator))) requireKeys('person', leaf, ['value']);
  if (typeof leaf.key !== 'string' || leaf.key === '')
    throw leafError("The 'key' of a person filter must be a non-empty string.");
  if (!(propertyOperators as unknown[]).includes(operator)) {
    throw leafError(`'${String(leaf.operator).slice(0, 100)}' is not a valid operator for a person filter.`);
  }
  if (isObject(leaf.value)) throw leafError("The 'value' of a person filter must not be an object.");
  const isTooLong = [leaf.value].flat().some((value) => typeof value === 'string' && value.length > longestNeedle);
  if (isTooLong && !comparesWhole.has(String(operator))) {
    throw leafError(
      `The 'value' of a person filter with the operator '${operator}' can have at most ${longestNeedle} characters.`,
    );
  }
  return { ...leaf, type: 'person', operator, ...negationOf(leaf) };
}

/**
 * Validates a filter that refers to a cohort. Older clients send `exact` instead of `in`. Any other operator is an
 * error, because no person could match.
 */
function parseCohortLeaf(leaf: Record<string, unknown>): CohortLeaf {
  requireKeys('cohort', leaf, ['key', 'value']);
  const value = readCohortFilterId(leaf);
  if (value === undefined) throw leafError('Invalid Cohort ID in filter');
  const { operator = 'in' } = leaf;
  const normal = operator === 'exact' || operator === null ? 'in' : operator;
  if (normal !== 'in' && normal !== 'not_in') {
    throw leafError(
      `'${String(operator).slice(0, 100)}' is not a valid operator for a cohort filter. Use 'in' or 'not_in'.`,
    );
  }
  const usual = leaf.operator === undefined ? {} : { operator: normal };
  return { ...leaf, type: 'cohort', value, ...usual, ...negationOf(leaf) };
}

function negationOf({ negation }: Record<string, unknown>): { negation?: boolean } {
  if (negation === undefined || negation === null) return {};
  if (typeof negation !== 'boolean') throw leafError("The 'negation' of a filter must be a boolean.");
  return { negation };
}

function requireKeys(kind: string, leaf: Record<string, unknown>, keys: string[]): void {
  const missing = keys.filter((key) => leaf[key] === undefined || leaf[key] === null);
  if (missing.length > 0) throw leafError(`Missing required keys for ${kind} filter: ${missing.join(', ')}`);
}

function leafError(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr: 'filters' });
}

/**
 * Converts `groups`, the former way to define a cohort, to a filter tree. Persons belong to the cohort if they match
 * all properties of at least one group.
 * @returns the tree before validation, or null if the list is empty
 * @throws AppError `invalid` with attr `groups` for a group defined by an event or an action
 */
export function convertGroupsToTree(groups: unknown): CohortFilters | null {
  const listed = Array.isArray(groups) ? groups.filter(isObject) : [];
  if (listed.length === 0) return null;
  const values = listed.map((group, at) => ({ type: 'AND' as const, values: leavesOfGroup(group, at) }));
  return { properties: { type: 'OR', values } } as CohortFilters;
}

function leavesOfGroup(group: Record<string, unknown>, at: number): Record<string, unknown>[] {
  if ((group.action_id ?? group.event_id ?? null) !== null) {
    const detail = `groups.${at}: Groups defined by an event or an action are not supported. Use filters on person properties.`;
    throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'groups' });
  }
  return propertiesOf(group.properties).map((property) => ({ type: 'person', operator: 'exact', ...property }));
}

/** Accepts a list of filters, or an object such as `{age__gt: 5}`, in which two underscores precede the operator. */
function propertiesOf(properties: unknown): Record<string, unknown>[] {
  if (Array.isArray(properties)) return properties.filter(isObject);
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, value]) => {
    const [key, operator = 'exact'] = name.split('__');
    return { key, operator, value };
  });
}

export interface CohortFilters {
  properties: CohortGroup;
}
interface CohortGroup {
  type: 'AND' | 'OR';
  values: (CohortGroup | CohortLeaf)[];
}
type CohortLeaf = Record<string, unknown> & { type: 'person' | 'cohort' };

function leavesOf({ values }: CohortGroup): CohortLeaf[] {
  return values.flatMap((value) => ('values' in value ? leavesOf(value as CohortGroup) : [value as CohortLeaf]));
}

export function findNamedCohorts(tree: CohortGroup): number[] {
  return [...new Set(leavesOf(tree).flatMap((leaf) => (leaf.type === 'cohort' ? [Number(leaf.value)] : [])))];
}
