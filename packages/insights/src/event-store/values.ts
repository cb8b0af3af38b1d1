// SQL for the recent values of a property.

import { fromEvents, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { ValuesQuestion } from './port.ts';
import { type Fragment, sql } from './sql.ts';

/**
 * Selects values, the most frequent first. First finds the times of the latest events, because that column is small.
 */
export function valuesText(dialect: Dialect, question: ValuesQuestion): Fragment {
  const { select, property, containing, latest, longest, limit } = question;
  const { projectId, where } = select;
  const events = (properties: (typeof property)[]) =>
    sql`${fromEvents(dialect, { projectId, conditions: [where], properties })} WHERE ${selected(dialect, select)}`;
  const searched = containing === null ? sql`` : sql` AND ${dialect.contains(sql`name`, containing)}`;
  return sql`SELECT name FROM (
      SELECT ${dialect.text(property)} AS name ${events([property])}
         AND e.timestamp >= coalesce((SELECT min(at) FROM (
               SELECT e.timestamp AS at ${events([])} ORDER BY e.timestamp DESC LIMIT ${sql.int(latest)}) AS newest), ${sql.time(select.from)})
         AND ${dialect.isScalar(property)}) AS found
     WHERE name <> '' AND ${dialect.characters(sql`name`)} <= ${sql.int(longest)}${searched}
     GROUP BY name ORDER BY count(*) DESC, ${dialect.inByteOrder(sql`name`)} LIMIT ${sql.int(limit)}`;
}
