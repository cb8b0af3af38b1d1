// SQL that reads all events in a time range, for batch exports.

import { buildCondition, buildEventNamesCondition, buildFromClause } from '../conditions.ts';
import type { EventListQuery } from '../queries.ts';
import type { EventNames } from '../selection.ts';
import { sql } from '../sql.ts';
import { postgresDialect } from './dialect.ts';
import { renderPostgresStatement } from './engine.ts';

export interface EventSpan extends EventNames, Pick<EventListQuery, 'where' | 'by'> {
  from: number;
  /** Exclusive end of the time range. */
  to: number;
}

/**
 * Returns the SQL statement that reads complete events from PostgreSQL, with JSON as text. The caller reads the result
 * with a cursor, because it may not fit into memory. The rows have the same order as in `EventStore.list`.
 */
export function buildEventSpanSql({ where, by, from, to, ...names }: EventSpan): { text: string; values: unknown[] } {
  const time = by === 'timestamp' ? sql`e.timestamp` : sql`e.created_at`;
  return renderPostgresStatement(
    sql`SELECT e.uuid, e.event, e.distinct_id, e.person_id, e.properties::text, e.person_properties::text, e.elements_chain,
               e.timestamp, e.created_at
          ${buildFromClause(postgresDialect, { projectId: names.projectId, conditions: [where] })}
         WHERE ${buildEventNamesCondition(names)} AND ${time} >= ${sql.time(from)} AND ${time} < ${sql.time(to)}
           AND ${buildCondition(postgresDialect, where, names.projectId)}
         ORDER BY ${time}, e.uuid`,
  );
}
