// SQL that classifies the actors of each interval as new, returning, resurrecting or dormant.

import { fromEvents, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { LifecycleQuestion, LifecycleStatus } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/** Returns rows of interval, status and number of actors. */
export function lifecycleText(dialect: Dialect, question: LifecycleQuestion): Fragment {
  return sql`WITH ${states(dialect, question)} SELECT bucket, status, count(*) AS units FROM states GROUP BY bucket, status`;
}

/** Selects the actors with a status in an interval. */
export function unitsOfLifecycleText(
  dialect: Dialect,
  question: LifecycleQuestion,
  { bucket, status }: { bucket: number; status: LifecycleStatus },
): Fragment {
  return sql`WITH ${states(dialect, question)}
    SELECT unit, sum(events) AS events FROM states WHERE bucket = ${sql.int(bucket)} AND status = ${sql.text(status)} GROUP BY unit`;
}

/**
 * Classifies actors. Excludes actors without a record: an event without a person profile has no person whose lifecycle
 * could be determined. Each active interval appears twice, as itself and as a possible dormant interval after it,
 * because ClickHouse would compute `lives` twice if the query named it twice.
 */
function states(dialect: Dialect, { select, unit, edges }: LifecycleQuestion): Fragment {
  const id = dialect.unit(unit);
  const created = unit.of === 'group' ? sql`${sql.numbered('g', unit.index)}.created_at` : sql`p.created_at`;
  return sql`active AS (
      SELECT ${id} AS unit, ${dialect.bucket(sql`e.timestamp`, edges)} AS bucket, count(*) AS events, min(${created}) AS created
        ${fromEvents(dialect, { projectId: select.projectId, units: [unit], conditions: [select.where], recordOf: unit })}
       WHERE ${selected(dialect, select)} AND ${created} IS NOT NULL
       GROUP BY 1, 2),
    lives AS (
      SELECT unit, bucket, events, ${dialect.bucket(sql`created`, edges)} AS born,
             lag(${dialect.nullable(sql`bucket`)}) OVER (PARTITION BY unit ORDER BY bucket) AS before,
             lead(${dialect.nullable(sql`bucket`)}) OVER (PARTITION BY unit ORDER BY bucket) AS after
        FROM active),
    states AS (
      SELECT unit, bucket + missed AS bucket, CASE WHEN missed = 1 THEN 0 ELSE events END AS events,
             CASE WHEN missed = 1 THEN 'dormant' WHEN before IS NULL AND born = bucket THEN 'new'
                  WHEN before = bucket - 1 THEN 'returning' ELSE 'resurrecting' END AS status
        FROM lives CROSS JOIN (SELECT 0 AS missed UNION ALL SELECT 1 AS missed) AS twice
       WHERE missed = 0 OR after IS NULL OR after > bucket + 1)`;
}
