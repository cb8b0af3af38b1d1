// Builds the FROM and WHERE clauses that select a query's events and join their persons and groups.

import type { Dialect } from './dialect.ts';
import type { FirstTime, FunnelStep } from './queries.ts';
import type { ActorType, Breakdown, Condition, EventNames, Property, Selection, Test } from './selection.ts';
import { type Fragment, sql } from './sql.ts';

export interface JoinedData {
  projectId: number;
  actorTypes?: readonly ActorType[];
  conditions?: readonly Condition[];
  properties?: readonly Property[];
  /** The actor type whose records must be joined, because the query needs their creation time. */
  recordOf?: ActorType;
  /**
   * True for a list with a limit. The engine then looks up each event's person instead of reading all events and
   * persons.
   */
  looksUpPersons?: boolean;
}

export function buildFromClause(
  dialect: Dialect,
  { projectId, actorTypes = [], conditions = [], properties = [], recordOf, looksUpPersons = false }: JoinedData,
): Fragment {
  const all = [...properties, ...conditions.flatMap(propertiesOf)].flatMap(readBy);
  const groups = new Set(all.flatMap((property) => (property.of === 'group' ? [property.index] : [])));
  if (recordOf?.of === 'group') groups.add(recordOf.index);
  const keys = [...new Set(all.flatMap(({ of, key }) => (of === 'person' || of === 'shown person' ? [key] : [])))];
  const needs = { keys, looksUp: looksUpPersons };
  const readsRecord = keys.length > 0 || recordOf?.of === 'person';
  const readsPerson =
    readsRecord ||
    actorTypes.some(({ of }) => of === 'person') ||
    all.some(({ of, key }) => of === 'column' && key === 'person_id') ||
    conditions.some(looksForPerson);
  return sql.join(
    [
      sql`FROM ${dialect.events}`,
      ...(readsPerson ? [dialect.personJoin(projectId, looksUpPersons)] : []),
      ...(readsRecord ? [dialect.personRecord(projectId, dialect.person, needs)] : []),
      ...[...groups].sort().map((index) => dialect.groupRecord(projectId, index)),
    ],
    ' ',
  );
}

/** Returns the property itself, or the properties that the property's expression reads. */
const readBy = (property: Property): readonly Property[] =>
  property.of === 'column' && property.key === 'expression' ? property.expression.reads : [property];

function propertiesOf(condition: Condition): Property[] {
  if ('all' in condition) return condition.all.flatMap(propertiesOf);
  if ('any' in condition) return condition.any.flatMap(propertiesOf);
  if ('not' in condition) return propertiesOf(condition.not);
  if ('property' in condition) return [condition.property];
  if ('breakdown' in condition) return [condition.breakdown.property];
  if ('expression' in condition) return [...condition.expression.reads];
  return [];
}

function looksForPerson(condition: Condition): boolean {
  if ('all' in condition) return condition.all.some(looksForPerson);
  if ('any' in condition) return condition.any.some(looksForPerson);
  if ('not' in condition) return looksForPerson(condition.not);
  return 'inStaticCohort' in condition || 'anyDistinctId' in condition;
}

/** Builds the WHERE condition of a selection. The condition requires the FROM clause of `buildFromClause`. */
export function buildSelectionCondition(dialect: Dialect, { from, to, where, ...names }: Selection): Fragment {
  return sql`${buildEventNamesCondition(names)} AND e.timestamp >= ${sql.time(from)} AND e.timestamp < ${sql.time(to)}
             AND ${buildCondition(dialect, where, names.projectId)}`;
}

export function buildEventNamesCondition({ projectId, events }: EventNames): Fragment {
  const project = sql`e.project_id = ${sql.int(projectId)}`;
  if (events === null) return project;
  if (events.length === 0) return sql`1 = 0`;
  if (events.length === 1) return sql`${project} AND e.event = ${sql.text(events[0] ?? '')}`;
  return sql`${project} AND ${buildInCondition(sql`e.event`, events)}`;
}

export function buildInCondition(column: Fragment, texts: readonly string[]): Fragment {
  return sql`${column} IN (${sql.join(
    texts.map((text) => sql`${sql.text(text)}`),
    ', ',
  )})`;
}

/** Selects a project's persons that match a condition, as rows of `actor`, without reading events. */
export function buildPersonsSql(
  dialect: Dialect,
  { projectId, where }: { projectId: number; where: Condition },
): Fragment {
  return sql`SELECT ${dialect.person} AS actor, 0 AS events ${dialect.everyone(projectId)}
              WHERE ${buildCondition(dialect, where, projectId)}`;
}

/** Builds the SQL for a condition. Its value is never null. */
export function buildCondition(dialect: Dialect, node: Condition, projectId: number): Fragment {
  const parts = (nodes: readonly Condition[]) => nodes.map((one) => buildCondition(dialect, one, projectId));
  if ('all' in node) return node.all.length === 0 ? sql`1 = 1` : sql`(${sql.join(parts(node.all), ' AND ')})`;
  if ('any' in node) return node.any.length === 0 ? sql`1 = 0` : sql`(${sql.join(parts(node.any), ' OR ')})`;
  if ('not' in node) return sql`NOT (${buildCondition(dialect, node.not, projectId)})`;
  if ('expression' in node) return node.expression.print(dialect.name, 'value');
  if ('inStaticCohort' in node) return dialect.inStaticCohort(projectId, node.inStaticCohort);
  if ('anyDistinctId' in node) {
    const test = tested(dialect, { of: 'column', key: 'distinct_id' }, node.anyDistinctId);
    // The table of distinct IDs has the alias `e`, because the condition reads the column `e.distinct_id`.
    return sql`${dialect.person} IN (SELECT e.person_uuid FROM person_distinct_id AS e
                                      WHERE e.project_id = ${sql.int(projectId)} AND ${test})`;
  }
  if ('breakdown' in node) {
    const label = dialect.label(node.breakdown);
    return node.value === null ? sql`${label} IS NULL` : sql`coalesce(${label} = ${sql.text(node.value)}, false)`;
  }
  return tested(dialect, node.property, node.test);
}

function tested(dialect: Dialect, property: Property, test: Test): Fragment {
  switch (test.is) {
    case 'set':
      return dialect.isSet(property);
    case 'equal':
      return dialect.equalsAny(property, test.values);
    case 'containing':
      return dialect.contains(dialect.text(property), test.text);
    case 'matching':
      return dialect.matches(dialect.text(property), test.pattern);
    case 'number':
      return sql`coalesce(${dialect.number(property)} ${comparisons[test.than]} ${sql.float(test.value)}, false)`;
    case 'version':
      return sql`coalesce(${dialect.inByteOrder(dialect.version(property))} ${comparisons[test.than]} ${sql.text(test.key)}, false)`;
    case 'release':
      return sql`coalesce(substring(${dialect.version(property)}, 61, 1) = '~', false)`;
    case 'time':
      return sql`coalesce(${dialect.time(property, test.zone)} ${comparisons[test.than]} ${sql.time(test.value)}, false)`;
    default:
      return test satisfies never;
  }
}

const comparisons = { '>': sql`>`, '>=': sql`>=`, '<': sql`<`, '<=': sql`<=`, '=': sql`=`, '<>': sql`<>` };

export function buildStepCondition(
  dialect: Dialect,
  { event, where }: Pick<FunnelStep, 'event' | 'where'>,
  projectId: number,
): Fragment {
  const test = buildCondition(dialect, where, projectId);
  return event === null ? test : sql`(e.event = ${sql.text(event)} AND ${test})`;
}

/** Builds a subquery with each actor's first matching event, in the columns `actor` and `first`. */
export function buildFirstTimesTable(
  dialect: Dialect,
  { to, where, ...names }: FirstTime,
  actorType: ActorType,
): Fragment {
  return sql`(SELECT ${dialect.actorId(actorType)} AS actor, min(e.timestamp) AS first
                ${buildFromClause(dialect, { projectId: names.projectId, actorTypes: [actorType], conditions: [where] })}
               WHERE ${buildEventNamesCondition(names)} AND e.timestamp < ${sql.time(to)} AND ${buildCondition(dialect, where, names.projectId)}
               GROUP BY 1)`;
}

/**
 * Builds the breakdown value columns `b0`, `b1`, … and the list of their names. A comma precedes each
 * column and each name.
 */
export function buildBreakdownColumns(dialect: Dialect, breakdowns: readonly Breakdown[]) {
  const names = breakdowns.map((_, at) => sql.numbered('b', at));
  const listed = (pieces: Fragment[]) =>
    sql.join(
      pieces.map((piece) => sql`, ${piece}`),
      ' ',
    );
  return {
    names,
    /** SQL such as `, <value> AS b0, …`. */
    columns: listed(breakdowns.map((one, at) => sql`${dialect.label(one)} AS ${sql.numbered('b', at)}`)),
    /** SQL such as `, b0, b1`. */
    list: listed(names),
  };
}
