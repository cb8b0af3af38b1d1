// SQL for the recent values of a property.

import { fromEvents, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { ValuesQuestion } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/** Selects values, the most frequent first. */
export function valuesText(dialect: Dialect, question: ValuesQuestion): Fragment {
  const { containing, longest, limit } = question;
  const searched = containing === null ? sql`` : sql` AND ${dialect.contains(sql`name`, containing)}`;
  return sql`SELECT name FROM (${latestText(dialect, question)}) AS found
     WHERE name <> '' AND ${dialect.characters(sql`name`)} <= ${sql.int(longest)}${searched}
     GROUP BY name ORDER BY count(*) DESC, ${dialect.inByteOrder(sql`name`)} LIMIT ${sql.int(limit)}`;
}

/** Selects the values in the latest events. */
function latestText(dialect: Dialect, { select, property, latest }: ValuesQuestion): Fragment {
  const { projectId, where } = select;
  const events = (properties: (typeof property)[]) =>
    sql`${fromEvents(dialect, { projectId, conditions: [where], properties })} WHERE ${selected(dialect, select)}`;
  const newest = sql`ORDER BY e.timestamp DESC LIMIT ${sql.int(latest)}`;
  const name = dialect.text(property);
  if (dialect.followsIndexes)
    return sql`SELECT CASE WHEN is_scalar THEN name END AS name FROM (
        SELECT ${name} AS name, ${dialect.isScalar(property)} AS is_scalar ${events([property])} ${newest}) AS newest`;
  // First finds the times of the latest events, because that column is small.
  return sql`SELECT ${name} AS name ${events([property])}
         AND e.timestamp >= coalesce((SELECT min(at) FROM (SELECT e.timestamp AS at ${events([])} ${newest}) AS newest), ${sql.time(select.from)})
         AND ${dialect.isScalar(property)}`;
}
