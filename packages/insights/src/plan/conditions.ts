// Translates client filters into conditions on events.

import { cohortFilterTypes, readCohortFilterId } from '@millrace/flags';
import {
  anyTextPattern,
  buildElementTextPartPattern,
  buildElementTextPattern,
  buildSelectorPattern,
  buildTagPattern,
} from '../elements-chain.ts';
import type { Condition, Property } from '../event-store/selection.ts';
import { createQueryError, isRecord } from '../query-parts.ts';
import type { Clock } from './dates.ts';
import { type ReadExpression, readSqlFilter } from './expressions.ts';
import {
  isNegative,
  listValuesWithPaths,
  type OperatorAndValue,
  positiveOperator,
  requireText,
  translateTest,
  unstorableCharacters,
} from './property-operators.ts';

const maxFilters = 200;
const longestKey = 400;

export interface Cohort {
  /** The name that SQL uses for the cohort. */
  name?: string | null;
  isStatic: boolean;
  /** A dynamic cohort's filter tree, in the form `{type, values}`. */
  tree: unknown;
}

export interface FilterContext {
  clock: Clock;
  /** Whether filters test the person properties stored with the event, instead of the current person's properties. */
  personsAsStored: boolean;
  /**
   * Whether person filters use the properties stored with an event that has no current person, as in lists of events
   * and persons.
   */
  showsPersons?: boolean;
  /** Whether the query is about persons, so that filters without a type also test persons. */
  isOfPersons?: boolean;
  /** Whether to ignore unknown fields, for filters that are stored without being run. */
  allowsUnknown?: boolean;
  /** The project's cohorts, except deleted ones. */
  cohorts: ReadonlyMap<number, Cohort>;
  /** Parses SQL expressions. Undefined if the filters cannot contain SQL. */
  expression?: ReadExpression;
}

const everything: Condition = { all: [] };

/**
 * Translates lists or groups of filters, and combines them with AND.
 * @param path the path of the filters that errors contain, for example `series.0.properties`.
 */
export function readFilters(filters: unknown, path: string, context: FilterContext): Condition {
  if (filters === undefined) return everything;
  const reading: Reading = { ...context, left: maxFilters, inside: [] };
  return Array.isArray(filters) ? readList(filters, 'all', { path, reading }) : readNode(filters, { path, reading });
}

interface Reading extends FilterContext {
  /** Number of filters that are still allowed. */
  left: number;
  /** IDs of the enclosing cohorts, to detect cycles. */
  inside: readonly number[];
}

interface Place {
  path: string;
  reading: Reading;
}

function readList(nodes: unknown[], how: 'all' | 'any', { path, reading }: Place): Condition {
  const conditions = nodes.map((node, at) => readNode(node, { path: `${path}.${at}`, reading }));
  // An empty group does not restrict the result.
  if (how === 'all' || conditions.length === 0) return { all: conditions };
  return { any: conditions };
}

function readNode(node: unknown, place: Place): Condition {
  const { path, reading } = place;
  if (!isRecord(node)) throw createQueryError(path, 'Expected a filter, or a group of filters.');
  if (Object.hasOwn(node, 'values')) {
    const { type = 'AND', values, ...others } = node;
    if (type !== 'AND' && type !== 'OR') throw createQueryError(`${path}.type`, 'Expected AND or OR.');
    if (!Array.isArray(values)) throw createQueryError(`${path}.values`, 'Expected a list of filters.');
    refuseOthers(others, place);
    return readList(values, type === 'AND' ? 'all' : 'any', { path: `${path}.values`, reading });
  }
  reading.left -= 1;
  if (reading.left < 0) throw createQueryError(path, `There can be at most ${maxFilters} filters.`);
  return readLeaf(node, place);
}

function refuseOthers(others: Record<string, unknown>, { path, reading }: Place): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined && !reading.allowsUnknown)
    throw createQueryError(`${path}.${unknown.slice(0, 100)}`, 'Unknown field.');
}

/** Fields that clients add to display a filter. */
const shown = ['label', 'id', 'name', 'cohort_name', 'group_key_names'];

const ofPersons = new Set<unknown>(['person', ...cohortFilterTypes]);

function readLeaf(filter: Record<string, unknown>, place: Place): Condition {
  const { path, reading } = place;
  const usual = reading.isOfPersons ? 'person' : 'event';
  const { key, value, operator, type = usual, group_type_index: index, negation, ...rest } = filter;
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => !shown.includes(name)));
  refuseOthers(others, place);
  const isEmpty = key === undefined && value === undefined && operator === undefined;
  if (isEmpty && (filter.type === undefined || type === 'empty')) return everything;
  if (type === 'hogql' && reading.expression !== undefined && reading.inside.length === 0)
    return readSqlFilter(filter, path, reading);
  if (reading.isOfPersons && !ofPersons.has(type))
    throw createQueryError(`${path}.type`, 'Actors can only be filtered by person properties and cohorts.');
  if (cohortFilterTypes.has(type)) return readCohort(filter, { path, reading });
  switch (type) {
    case 'event':
    case 'person':
    case 'group':
    case 'event_metadata':
    case 'element':
      break;
    default:
      throw createQueryError(`${path}.type`, `Filters of the type "${String(type).slice(0, 100)}" are not supported.`);
  }
  if (negation !== undefined) throw createQueryError(`${path}.negation`, 'Only cohort filters support `negation`.');
  if (typeof key !== 'string' || key === '' || key.length > longestKey || unstorableCharacters.test(key)) {
    throw createQueryError(`${path}.key`, `Expected a property name of at most ${longestKey} characters.`);
  }
  if (type === 'element') return readElement({ key, value, operator }, { path, reading });
  const property = readProperty({ type, key, index }, { path, reading });
  const condition = translateTest(property, { operator, value }, { path, reading });
  return type === 'person' && key === 'distinct_id' ? ofAnyDistinctId(condition, reading) : condition;
}

/**
 * Applies a condition to all of the person's distinct IDs. Also tests the event's own distinct ID, because an event may
 * have no person.
 */
function ofAnyDistinctId(condition: Condition, reading: Reading): Condition {
  if ('all' in condition) return { all: condition.all.map((one) => ofAnyDistinctId(one, reading)) };
  if ('any' in condition) return { any: condition.any.map((one) => ofAnyDistinctId(one, reading)) };
  if ('not' in condition) return { not: ofAnyDistinctId(condition.not, reading) };
  if (!('property' in condition)) return condition;
  const ofPerson: Condition = { anyDistinctId: condition.test };
  return reading.isOfPersons ? ofPerson : { any: [ofPerson, condition] };
}

/**
 * Translates a client's property type and key to the property that queries read.
 * @throws AppError that names the field.
 */
export function readProperty(
  { type, key, index }: { type: string; key: string; index?: unknown },
  { path, reading }: { path: string; reading: Pick<FilterContext, 'personsAsStored' | 'showsPersons'> },
): Property {
  if (type === 'group') {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > 4) {
      throw createQueryError(`${path}.group_type_index`, 'Expected the index of a group type, 0 to 4.');
    }
    return { of: 'group', index, key };
  }
  if (type === 'person') {
    if (key === 'distinct_id') return { of: 'column', key: 'distinct_id' };
    if (reading.showsPersons) return { of: 'shown person', key };
    return { of: reading.personsAsStored ? 'stored person' : 'person', key };
  }
  if (type === 'event_metadata') {
    const group = /^\$group_([0-4])$/.test(key);
    if (group) return { of: 'event', key };
    if (key === 'distinct_id' || key === 'event' || key === 'person_id' || key === 'timestamp')
      return { of: 'column', key };
    throw createQueryError(`${path}.key`, 'Expected distinct_id, event, person_id, timestamp or $group_0 to $group_4.');
  }
  return key === '$elements_chain' ? { of: 'column', key: 'elements_chain' } : { of: 'event', key };
}

/** Translates cohort membership by inserting the filters of the cohort and of the cohorts that it references. */
function readCohort({ type, value, operator, negation }: Record<string, unknown>, { path, reading }: Place): Condition {
  const id = readCohortFilterId({ type, value });
  const cohort = id === undefined ? undefined : reading.cohorts.get(id);
  if (id === undefined || cohort === undefined || reading.inside.includes(id))
    throw createQueryError(`${path}.value`, `Cohort ${String(value).slice(0, 20)} does not exist.`);
  const isNegated = (operator === 'not_in' || operator === 'is_not') !== (negation === true);
  if (operator !== undefined && !['in', 'not_in', 'exact', 'is_not'].includes(String(operator))) {
    throw createQueryError(`${path}.operator`, 'Expected in or not_in.');
  }
  const inner: Condition = cohort.isStatic ? { inStaticCohort: id } : readTree(cohort.tree, id);
  return isNegated ? { not: inner } : inner;

  function readTree(tree: unknown, cohortId: number): Condition {
    // Cohort membership depends on the current person instead of the properties stored with events.
    const inside = { ...reading, personsAsStored: false, inside: [...reading.inside, cohortId] };
    if (!isRecord(tree)) return { any: [] };
    const condition = readCohortNode(tree, { path, reading: inside });
    reading.left = inside.left;
    return condition;
  }
}

function readCohortNode(node: Record<string, unknown>, place: Place): Condition {
  const { path } = place;
  if (Array.isArray(node.values) && node.type !== 'person') {
    const conditions = node.values.map((one) => readCohortNode(isRecord(one) ? one : {}, place));
    // A cohort without filters has no members.
    if (conditions.length === 0) return { any: [] };
    return node.type === 'OR' ? { any: conditions } : { all: conditions };
  }
  if (node.type === 'behavioral') {
    throw createQueryError(`${path}.value`, 'Cohorts with behavioral filters are not supported in queries.');
  }
  const { negation, ...leaf } = node;
  const condition = readLeaf(node.type === 'cohort' ? node : leaf, place);
  return node.type !== 'cohort' && negation === true ? { not: condition } : condition;
}

const chain: Property = { of: 'column', key: 'elements_chain' };

/**
 * Translates a filter on the elements of an autocaptured event. Any element may match, but a filter on links tests only
 * the innermost element that has a link.
 */
function readElement({ key, value, operator = 'exact' }: { key: string } & OperatorAndValue, place: Place): Condition {
  if (key === 'href') return translateTest({ of: 'column', key: 'first href' }, { operator, value }, place);
  const { path } = place;
  const operation = positiveOperator(String(operator));
  const matching = (patterns: string[]): Condition => {
    const condition: Condition = {
      any: patterns.map((pattern) => ({ property: chain, test: { is: 'matching', pattern } })),
    };
    return isNegative(String(operator)) ? { not: condition } : condition;
  };
  const texts = () => listValuesWithPaths(value, path).map(([one, at]) => requireText(one, at, 150));
  const selectorOf = (text: string) => {
    const pattern = buildSelectorPattern(text);
    if (pattern !== null) return pattern;
    throw createQueryError(
      `${path}.value`,
      'Selectors can only contain tag names, .class, #id, [attribute="value"] and >.',
    );
  };
  if (key === 'tag_name' || key === 'selector') {
    if (operation !== 'exact')
      throw createQueryError(`${path}.operator`, `A ${key} can only be compared with exact or is_not.`);
    return matching(texts().map((text) => (key === 'tag_name' ? buildTagPattern(text) : selectorOf(text))));
  }
  if (key !== 'text') throw createQueryError(`${path}.key`, 'Expected tag_name, text, href or selector.');
  switch (operation) {
    case 'is_set':
      return matching([anyTextPattern]);
    case 'exact':
      return matching(texts().map(buildElementTextPattern));
    case 'icontains':
      return matching(texts().map(buildElementTextPartPattern));
    default:
      throw createQueryError(
        `${path}.operator`,
        'An element text can only be compared with exact, is_not, icontains, not_icontains, is_set or is_not_set.',
      );
  }
}
