// SQL that classifies each interval's actors as new, returning, resurrecting or dormant.

import { buildFromClause, buildSelectionCondition } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { LifecycleStatus, LifecycleStoreQuery } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/** Selects the number of actors by interval and status. */
export function buildLifecycleSql(dialect: Dialect, query: LifecycleStoreQuery): Fragment {
  const special = dialect.lifecycle(query);
  if (special !== null) return special;
  const actor = dialect.actorKey(query.actorType);
  return sql`WITH ${states(dialect, query, actor)} SELECT bucket, status, count(*) AS actors FROM states GROUP BY bucket, status`;
}

/** Selects the actors that have the given status in the given interval. */
export function buildLifecycleActorsSql(
  dialect: Dialect,
  query: LifecycleStoreQuery,
  { bucket, status }: { bucket: number; status: LifecycleStatus },
): Fragment {
  return sql`WITH ${states(dialect, query, dialect.actorId(query.actorType))}
    SELECT actor, sum(events) AS events FROM states WHERE bucket = ${sql.int(bucket)} AND status = ${sql.text(status)} GROUP BY actor`;
}

/**
 * Classifies actors. Excludes actors without a record, because an event without a person profile has no person whose
 * lifecycle could be determined. Each active interval appears twice: once as active, and once as the dormant interval
 * that may follow. Otherwise, the query would refer to `paths` twice, and ClickHouse would compute `paths` twice.
 */
function states(dialect: Dialect, { select, actorType, edges }: LifecycleStoreQuery, actor: Fragment): Fragment {
  const created = actorType.of === 'group' ? sql`${sql.numbered('g', actorType.index)}.created_at` : sql`p.created_at`;
  return sql`active AS (
      SELECT ${actor} AS actor, ${dialect.bucket(sql`e.timestamp`, edges)} AS bucket, count(*) AS events, min(${created}) AS created
        ${buildFromClause(dialect, { projectId: select.projectId, actorTypes: [actorType], conditions: [select.where], recordOf: actorType })}
       WHERE ${buildSelectionCondition(dialect, select)} AND ${created} IS NOT NULL
       GROUP BY 1, 2),
    paths AS (
      SELECT actor, bucket, events, ${dialect.bucket(sql`created`, edges)} AS born,
             lag(${dialect.nullable(sql`bucket`)}) OVER (PARTITION BY actor ORDER BY bucket) AS before,
             lead(${dialect.nullable(sql`bucket`)}) OVER (PARTITION BY actor ORDER BY bucket) AS after
        FROM active),
    states AS (
      SELECT actor, bucket + missed AS bucket, CASE WHEN missed = 1 THEN 0 ELSE events END AS events,
             CASE WHEN missed = 1 THEN 'dormant' WHEN before IS NULL AND born = bucket THEN 'new'
                  WHEN before = bucket - 1 THEN 'returning' ELSE 'resurrecting' END AS status
        FROM paths CROSS JOIN (SELECT 0 AS missed UNION ALL SELECT 1 AS missed) AS twice
       WHERE missed = 0 OR after IS NULL OR after > bucket + 1)`;
}
