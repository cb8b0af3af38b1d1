// Determines what the names in an expression mean: columns of the tables in FROM, aliases of the SELECT list, WITH
// entries and parameters of lambdas.

import type { Condition } from '../../event-store/selection.ts';
import type { Node, Select, SelectSet, WindowExpr } from '../ast.ts';
import { scalars } from '../functions/index.ts';
import { type Place, SqlProblem } from '../problem.ts';
import { columnType, type Entry, type Fields, pathColumns, propertyType, storedEvents, tables } from '../schema.ts';
import {
  columnTypes,
  type ExpandRelation,
  type Expression,
  keyOf,
  partsOf,
  type Query,
  type QueryRelation,
  type TableColumn,
  type TableRelation,
} from '../tree.ts';
import { flag, nullable, type SqlType } from '../types.ts';

export interface SqlCohort {
  id: number;
  name: string | null;
  /** The condition that a person is in the cohort. @throws AppError `invalid` if the members cannot be looked up */
  condition(): Condition;
}

/** Settings and definitions that affect a query in addition to its text. */
export interface SqlSettings {
  projectId: number;
  zone: string;
  /** The first day of the week: 0 for Sunday, 1 for Monday. */
  weekStart: number;
  /** The current time, in milliseconds since 1970. */
  now: number;
  /** Types of properties, with keys such as `event name`, `person name` and `group 0 name`. */
  propertyTypes: ReadonlyMap<string, string>;
  cohorts: readonly SqlCohort[];
  /** The content of `{filters}`. The bounds are in milliseconds since 1970. */
  filters: { from: number | null; to: number | null; condition: Condition | null };
  /** True if `person.properties` means the properties stored with the event. */
  personsAsStored: boolean;
  /** True if the person of an event is the one stored with it, regardless of later merges. */
  withoutMerges?: boolean;
}

/** A property that a query reads, with the type in its definition. */
export interface TypedProperty {
  /** What the property belongs to: `event`, `person` or `group`. */
  of: string;
  key: string;
  /** The type in the definition, such as `Numeric`. */
  definition: string;
  place: Place;
}

/** State of resolving one query, shared by all scopes of the query. */
export interface Resolution {
  settings: SqlSettings;
  /** Returns a unique number for a relation, column or parameter. */
  nextNumber(): number;
  /** Position of each expression in the query text, and how it is written there. */
  places: WeakMap<Expression, { place: Place; name: string }>;
  /** The properties with a definition that occur in the query, in the order in which they were resolved. */
  typed: TypedProperty[];
  expression(node: Node, scope: Scope): Expression;
  query(node: Select | SelectSet, scope: Scope | null): Query;
  tables: number;
}

export interface Source {
  alias: string | null;
  relation: TableRelation | QueryRelation;
  names: ReadonlyMap<string, { column: number; type: SqlType }>;
  /** True if an outer join can leave the columns without a value. */
  isOuter: boolean;
}

interface AliasEntry {
  node: Node;
  resolved: Expression | null;
  isResolving: boolean;
}

export interface Scope {
  run: Resolution;
  sources: Source[];
  aliases: Map<string, AliasEntry>;
  ctes: ReadonlyMap<string, { node: Node; scope: Scope }>;
  parameters: ReadonlyMap<string, Expression>;
  expand: ExpandRelation[];
  /** List elements from ARRAY JOIN, by alias. */
  elements: Map<string, Expression>;
  windows: Readonly<Record<string, WindowExpr>>;
  /** The current clause if it does not allow aggregates, for error messages. Null if the clause allows aggregates. */
  withoutAggregates: string | null;
  /** The aggregate whose arguments are being resolved. */
  aggregate: string | null;
  depth: number;
}

export function scopeWithin(run: Resolution, outer: Scope | null): Scope {
  const depth = (outer?.depth ?? 0) + 1;
  return {
    run,
    sources: [],
    aliases: new Map(),
    ctes: outer?.ctes ?? new Map(),
    parameters: new Map(),
    expand: [],
    elements: new Map(),
    windows: {},
    withoutAggregates: null,
    aggregate: null,
    depth,
  };
}

/** Stores the position of an expression, for errors that are found later. */
export function located<T extends Expression>(scope: Scope, expression: T, found: { place: Place; name: string }): T {
  scope.run.places.set(expression, found);
  return expression;
}

/** Resolves a name. @param chain the name, split at its dots */
export function resolveName(chain: readonly string[], place: Place, scope: Scope): Expression {
  const [first = '', ...rest] = chain;
  const parameter = scope.parameters.get(first);
  if (parameter !== undefined && rest.length === 0) return parameter;
  const alias = rest.length === 0 ? aliased(first, place, scope) : null;
  if (alias !== null) return alias;
  const element = scope.elements.get(first);
  if (element !== undefined && rest.length === 0) return located(scope, { ...element }, { place, name: first });
  const found = columnOf(chain, scope, place) ?? constantOf(first, rest, scope);
  if (found === null) throw new SqlProblem(`Unable to resolve field: ${chain.join('.')}`, place);
  return located(scope, found, { place, name: chain.join('.') });
}

function aliased(name: string, place: Place, scope: Scope): Expression | null {
  const entry = scope.aliases.get(name);
  // Inside the expression of an alias, the alias is not defined yet, so the name means the column.
  if (entry === undefined || entry.isResolving) return null;
  if (entry.resolved === null) {
    entry.isResolving = true;
    const outside: Scope = { ...scope, withoutAggregates: null, aggregate: null, parameters: new Map() };
    try {
      entry.resolved = scope.run.expression(entry.node, outside);
    } finally {
      entry.isResolving = false;
    }
  }
  const { resolved } = entry;
  checkAggregates(resolved, place, scope);
  return resolved;
}

/** Rejects an alias for an aggregate in a clause that does not allow aggregates. */
function checkAggregates(expression: Expression, place: Place, scope: Scope): void {
  const found = aggregateIn(expression);
  if (found === null) return;
  if (scope.withoutAggregates !== null)
    throw new SqlProblem(`Aggregation '${found}' is not allowed in ${scope.withoutAggregates}. Use HAVING.`, place);
  if (scope.aggregate !== null) throw nestedAggregate(found, scope.aggregate, place);
}

export const nestedAggregate = (inner: string, outer: string, place: Place) =>
  new SqlProblem(`Aggregation '${inner}' cannot be nested inside another aggregation '${outer}'.`, place);

function aggregateIn(expression: Expression): string | null {
  if (expression.is === 'call' && expression.of.isAggregate) return expression.name;
  if (expression.is === 'window' || expression.is === 'constant' || expression.is === 'column') return null;
  for (const part of partsOf(expression)) {
    const found = aggregateIn(part);
    if (found !== null) return found;
  }
  return null;
}

function columnOf(chain: readonly string[], scope: Scope, place: Place): Expression | null {
  const [first = '', ...rest] = chain;
  const named = rest.length > 0 ? scope.sources.filter(({ alias }) => alias === first) : [];
  for (const source of named) {
    const found = findColumn(source, rest, scope, place);
    if (found !== null) return found;
  }
  const found = scope.sources.flatMap((source) => findColumn(source, chain, scope, place) ?? []);
  if (found.length > 1)
    throw new SqlProblem(`Ambiguous query. Found multiple sources for field: ${chain.join('.')}`, place);
  return found[0] ?? null;
}

/** Returns a column of one table or subquery, or null if it does not have the column. */
export function findColumn(source: Source, chain: readonly string[], scope: Scope, place: Place): Expression | null {
  const { relation, isOuter } = source;
  const [first = '', ...path] = chain;
  if (relation.is === 'table') {
    const isStored = scope.run.settings.withoutMerges && relation.table === 'events';
    const fields = isStored ? storedEvents : tables[relation.table].fields;
    const pattern = path.length === 0 && relation.table === 'events' ? elementLists[first] : undefined;
    if (pattern !== undefined) return elementList(pattern, source, { scope, place });
    const column = entryOf(fields, chain, { relation, scope, place });
    if (column === null) return null;
    const url = column.of === 'column' ? pathColumns.get(column.name) : undefined;
    if (url === undefined) return readColumn(relation, column, { isOuter, run: scope.run });
    return pathOfUrl(readColumn(relation, { ...column, of: 'column', name: url }, { isOuter, run: scope.run }));
  }
  const found = source.names.get(first);
  if (found === undefined) return null;
  const type = nullable(found.type, found.type.isNullable || isOuter);
  const column: Expression = { is: 'column', type, relation: relation.id, column: found.column };
  if (isOuter && (type.kind === 'tuple' || type.element?.kind === 'tuple'))
    throw new SqlProblem('An outer join cannot return tuples. Select their parts in the subquery.', place);
  if (path.length === 0) return isOuter && type.kind === 'array' ? withoutMissing(column) : column;
  if (type.kind !== 'json') return null;
  return propertyOfDocument(column, path);
}

/** ClickHouse has no nullable lists. If an outer join finds no row, the list is empty. */
function withoutMissing(list: Expression): Expression {
  const isMissing: Expression = { is: 'null', part: list, type: flag };
  const empty: Expression = { is: 'array', parts: [], type: list.type };
  return { is: 'choice', cases: [{ when: isMissing, result: empty }], otherwise: list, type: list.type };
}

/**
 * Lists of the elements of an autocaptured event. Each list contains the distinct values of the pattern's first group
 * in `elements_chain`.
 */
const elementLists: Readonly<Record<string, string>> = {
  elements_chain_texts: '(?::|")text="([^"]*)"',
  elements_chain_ids: '(?::|")attr__?id="([^"]*)"',
  elements_chain_elements: '(?:^|;)(a|button|form|input|select|textarea|label)(?:[.]|$|:)',
};

function elementList(pattern: string, source: Source, { scope, place }: { scope: Scope; place: Place }): Expression {
  const chain = [...(source.alias === null ? [] : [source.alias]), 'elements_chain'];
  const found: Node = {
    node: 'Call',
    name: 'extractAll',
    args: [
      { node: 'Field', chain, place },
      { node: 'Constant', value: pattern, place },
    ],
    place,
  };
  return scope.run.expression({ node: 'Call', name: 'arrayDistinct', args: [found], place }, scope);
}

function pathOfUrl(url: Expression): Expression {
  const [of] = scalars.get('path') ?? [];
  if (of === undefined) throw new Error('The function path is missing.');
  return { is: 'call', name: 'path', of, type: url.type, args: [url] };
}

/** Resolves a property of a JSON document that is not a table column. */
export function propertyOfDocument(document: Expression, path: readonly string[]): Expression {
  const [of] = scalars.get('propertyText') ?? [];
  if (of === undefined) throw new Error('The function propertyText is missing.');
  const steps = path.map((value): Expression => ({ is: 'constant', type: { kind: 'text', isNullable: false }, value }));
  return {
    is: 'call',
    name: 'propertyText',
    of,
    type: { kind: 'text', isNullable: true },
    args: [document, ...steps],
  };
}

export function readColumn(
  relation: TableRelation,
  column: TableColumn,
  { isOuter, run }: { isOuter: boolean; run: Resolution },
): Expression {
  const key = JSON.stringify(column);
  let number = [...relation.columns].find(([, known]) => JSON.stringify(known) === key)?.[0];
  if (number === undefined) {
    number = run.nextNumber();
    relation.columns.set(number, column);
  }
  const type = nullable(column.type, column.type.isNullable || isOuter);
  const isProperty = column.of === 'property';
  return {
    is: 'column',
    type,
    relation: relation.id,
    column: number,
    isStored: true,
    ...(isProperty && { isProperty }),
  };
}

interface Walk {
  relation: TableRelation;
  scope: Scope;
  place: Place;
}

function entryOf(fields: Fields, chain: readonly string[], walk: Walk): TableColumn | null {
  const [first = '', ...rest] = chain;
  const entry = fields.get(first);
  if (entry === undefined) return null;
  if (entry.is === 'object') return rest.length === 0 ? null : entryOf(entry.fields, rest, walk);
  const { settings } = walk.scope.run;
  if (entry.is === 'column') {
    if (rest.length > 0) return null;
    return { of: 'column', name: entry.name, type: columnType(entry, walk.relation.table, settings.zone) };
  }
  if (rest.length === 0) {
    const isNullable = entry.of !== 'event' && walk.relation.table !== 'persons' && walk.relation.table !== 'groups';
    return { of: 'column', name: entry.name, type: { kind: 'json', isNullable } };
  }
  return propertyColumn(entry, rest, walk);
}

function propertyColumn(
  entry: Extract<Entry, { is: 'properties' }>,
  [key = '', ...path]: readonly string[],
  { scope, place }: Walk,
): TableColumn {
  const { settings } = scope.run;
  if (key.startsWith('$virt_')) throw new SqlProblem(`The property \`${key}\` is not supported.`, place);
  const isStored = entry.of === 'person' && settings.personsAsStored;
  const of = isStored ? 'stored person' : entry.of;
  const owner = of === 'group' || of === 'event' ? of : 'person';
  const group = of === 'group' ? `group ${entry.index ?? 0}` : owner;
  const definition = path.length === 0 ? settings.propertyTypes.get(`${group} ${key}`) : undefined;
  if (definition !== undefined) scope.run.typed.push({ of: owner, key, definition, place });
  const type = propertyType(definition, settings.zone);
  const property = of === 'group' ? { of, key, index: entry.index ?? 0 } : { of, key };
  return { of: 'property', property, path, type };
}

/** Resolves a constant from WITH, such as `WITH 5 AS n`. */
function constantOf(name: string, rest: readonly string[], scope: Scope): Expression | null {
  const cte = scope.ctes.get(name);
  if (cte === undefined || rest.length > 0) return null;
  if (cte.node.node === 'SelectQuery' || cte.node.node === 'SelectSetQuery') return null;
  return scope.run.expression(cte.node, cte.scope);
}

/** Returns the columns that `SELECT *` selects, with their names. */
export function allColumns(source: Source, scope: Scope, place: Place): { name: string; value: Expression }[] {
  const { relation } = source;
  const names = relation.is === 'table' ? tables[relation.table].shown : [...source.names.keys()];
  return names.flatMap((name) => {
    const value = findColumn(source, [name], scope, place);
    return value === null ? [] : [{ name, value: located(scope, value, { place, name }) }];
  });
}

export function namesOf(query: Query, names: readonly string[]): Source['names'] {
  const types = columnTypes(query);
  return new Map(names.flatMap((name, at) => (types[at] === undefined ? [] : [[name, types[at]] as const])));
}

export const isSame = (a: Expression, b: Expression) => keyOf(a) === keyOf(b);
