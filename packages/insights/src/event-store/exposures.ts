// SQL for experiment results: which variant each person saw, and whether the person converted afterwards.

import { buildFromClause, buildSelectionCondition } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { ExposuresQuery } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/**
 * Selects variant, day, exposures, persons, conversions, and the total number of exposures. Each person counts once, on
 * the day of the first exposure. The variant is the one that the person saw, or `$multiple` if the person saw several
 * variants.
 */
export function buildExposuresSql(dialect: Dialect, query: ExposuresQuery): Fragment {
  const { select, response, edges, conversionEvent, maxCalls, maxVariants } = query;
  const person = { of: 'person' } as const;
  const at = dialect.millis(sql`e.timestamp`);
  const { projectId, where } = select;
  const calls = buildFromClause(dialect, {
    projectId,
    actorTypes: [person],
    conditions: [where],
    properties: [response.property],
  });
  const conversions = { ...select, events: conversionEvent === null ? [] : [conversionEvent], where: { all: [] } };
  return sql`WITH exposure AS (
      SELECT ${dialect.actorId(person)} AS person, ${at} AS at, ${dialect.bucket(sql`e.timestamp`, edges)} AS day,
             coalesce(${dialect.label(response)}, '$none') AS response ${calls} WHERE ${buildSelectionCondition(dialect, select)} LIMIT ${sql.int(maxCalls + 1)}),
    usual AS (SELECT response FROM exposure GROUP BY response
               ORDER BY count(*) DESC, ${dialect.inByteOrder(sql`response`)} LIMIT ${sql.int(maxVariants)}),
    seen AS (SELECT person, at, day, CASE WHEN response IN (SELECT response FROM usual) THEN response ELSE '$other' END AS variant
               FROM exposure),
    exposed AS (SELECT person, min(at) AS first_at,
                       CASE WHEN min(variant) = max(variant) THEN min(variant) ELSE '$multiple' END AS shown
                  FROM seen GROUP BY person),
    converted AS (SELECT ${dialect.actorId(person)} AS person, max(${at}) AS last_at
                    ${buildFromClause(dialect, { projectId, actorTypes: [person] })}
                   WHERE ${buildSelectionCondition(dialect, conversions)} GROUP BY 1)
    SELECT p.shown, s.day, count(*) AS calls, count(DISTINCT CASE WHEN s.at = p.first_at THEN s.person END) AS persons,
           count(DISTINCT CASE WHEN s.at = p.first_at AND c.last_at >= p.first_at THEN s.person END) AS conversions,
           (SELECT count(*) FROM exposure) AS read
      FROM seen s JOIN exposed p ON p.person = s.person LEFT JOIN converted c ON c.person = s.person
     GROUP BY p.shown, s.day ORDER BY s.day, ${dialect.inByteOrder(sql`p.shown`)}`;
}
