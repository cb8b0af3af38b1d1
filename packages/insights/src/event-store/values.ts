// Builds the SQL that selects a property's recent values.

import { buildFromClause, buildSelectionCondition } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { PropertyValuesQuery } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/** Selects a property's values, most frequent first. */
export function buildValuesSql(dialect: Dialect, query: PropertyValuesQuery): Fragment {
  const { containing, maxValueLength, limit } = query;
  const searched = containing === null ? sql`` : sql` AND ${dialect.contains(sql`name`, containing)}`;
  return sql`SELECT name FROM (${latestText(dialect, query)}) AS found
     WHERE name <> '' AND ${dialect.characters(sql`name`)} <= ${sql.int(maxValueLength)}${searched}
     GROUP BY name ORDER BY count(*) DESC, ${dialect.inByteOrder(sql`name`)} LIMIT ${sql.int(limit)}`;
}

function latestText(dialect: Dialect, { select, property, searchedEvents }: PropertyValuesQuery): Fragment {
  const { projectId, where } = select;
  const events = (properties: (typeof property)[]) =>
    sql`${buildFromClause(dialect, { projectId, conditions: [where], properties })} WHERE ${buildSelectionCondition(dialect, select)}`;
  const newest = sql`ORDER BY e.timestamp DESC LIMIT ${sql.int(searchedEvents)}`;
  const name = dialect.text(property);
  if (dialect.followsIndexes)
    return sql`SELECT CASE WHEN is_scalar THEN name END AS name FROM (
        SELECT ${name} AS name, ${dialect.isScalar(property)} AS is_scalar ${events([property])} ${newest}) AS newest`;
  // To find the latest events quickly, the subquery reads only the time column, which is small.
  return sql`SELECT ${name} AS name ${events([property])}
         AND e.timestamp >= coalesce((SELECT min(at) FROM (SELECT e.timestamp AS at ${events([])} ${newest}) AS newest), ${sql.time(select.from)})
         AND ${dialect.isScalar(property)}`;
}
