import type { Sql } from '@millrace/db';
import { budgetOf, type StoreRead } from '../../../analytics/events/other-store.ts';

export interface ExposureQuery {
  environmentId: number;
  flagKey: string;
  /** Inclusive. */
  from: Date;
  /** Exclusive. */
  to: Date;
  timeZone: string;
  conversionEvent: string | null;
  /** Limit for the number of exposures that are read. */
  mostExposures: number;
  /** Less frequent responses are combined as `$other`. */
  mostVariants: number;
}

/** The results for persons who were first exposed to a variant on this day. */
export interface ExposureDay extends Record<string, unknown> {
  variant: string;
  /** `2026-11-22`, in the time zone of the query. */
  day: string;
  /** All exposures to this variant on this day. */
  exposures: number;
  /** Persons with their first exposure on this day. */
  persons: number;
  /** How many of these persons sent the conversion event afterwards. */
  conversions: number;
  /** Exposures of all variants and days. Higher than `mostExposures` if some were not read. */
  exposures_read: number;
}

/** The person to whom an event belongs now, or else the person stored with it. */
const currentPerson = `coalesce((SELECT d.person_uuid FROM person_distinct_id d
   WHERE d.project_id = e.project_id AND d.distinct_id = e.distinct_id), e.person_id)`;
/** Uses the primary key (project_id, timestamp, uuid) of the partitions in the range. */
const inTime = 'e.project_id = $1 AND e.timestamp >= $2 AND e.timestamp < $3';

/**
 * Counts exposures by variant and day. Each person counts once, on the day of the first exposure, for the variant they saw or
 * for `$multiple`.
 */
export async function countExposures(sql: Sql, query: ExposureQuery): Promise<ExposureDay[]> {
  return sql.query<ExposureDay>(exposuresStatement, exposuresValues(query));
}

/** The same for events in another store. */
export async function countStoredExposures(
  read: StoreRead,
  { from, to, flagKey, timeZone, conversionEvent, mostExposures: most, mostVariants }: ExposureQuery,
): Promise<ExposureDay[]> {
  const days = await read.sql.query<{ day: string; starts_at: Date }>(
    `SELECT to_char(local, 'YYYY-MM-DD') AS day, local AT TIME ZONE $3 AS starts_at
       FROM generate_series(date_trunc('day', $1::timestamptz AT TIME ZONE $3), $2::timestamptz AT TIME ZONE $3, '1 day') AS local`,
    [from, to, timeZone],
  );
  const isFlag = { property: { of: 'event', key: '$feature_flag' }, test: { is: 'equal', values: [flagKey] } } as const;
  const rows = await read.store.events.exposures(
    {
      select: {
        ...{ projectId: read.projectId, events: ['$feature_flag_called'], where: isFlag },
        ...{ from: from.getTime(), to: to.getTime() },
      },
      answer: { property: { of: 'event', key: '$feature_flag_response' }, isUrl: false, isBoolean: false, bins: null },
      edges: days.map(({ starts_at }) => starts_at.getTime()),
      ...{ conversionEvent, most, mostVariants },
    },
    budgetOf(read),
  );
  return rows.map(({ bucket, read: exposures_read, ...row }) => ({
    ...{ ...row, exposures_read },
    day: days[bucket]?.day ?? '',
  }));
}

export const exposuresValues = (query: ExposureQuery): unknown[] => [
  query.environmentId,
  query.from,
  query.to,
  query.flagKey,
  query.timeZone,
  query.conversionEvent,
  query.mostExposures,
  query.mostVariants,
];

export const exposuresStatement = `
  WITH exposure AS MATERIALIZED (
    SELECT ${currentPerson} AS person, e.timestamp,
           left(coalesce(e.properties ->> '$feature_flag_response', '$none'), 400) AS answer
      FROM event e
     WHERE ${inTime} AND e.event = '$feature_flag_called' AND e.properties ->> '$feature_flag' = $4
     LIMIT $7::int + 1),
  usual AS (SELECT answer FROM exposure GROUP BY answer ORDER BY count(*) DESC, answer LIMIT $8),
  seen AS (
    SELECT person, timestamp, CASE WHEN answer IN (SELECT answer FROM usual) THEN answer ELSE '$other' END AS variant
      FROM exposure),
  exposed AS (
    SELECT person, min(timestamp) AS first_at,
           CASE WHEN min(variant) = max(variant) THEN min(variant) ELSE '$multiple' END AS variant
      FROM seen GROUP BY person),
  converted AS (
    SELECT ${currentPerson} AS person, max(e.timestamp) AS last_at
      FROM event e
     WHERE $6::text IS NOT NULL AND ${inTime} AND e.event = $6
     GROUP BY 1)
  SELECT p.variant, to_char(s.timestamp AT TIME ZONE $5, 'YYYY-MM-DD') AS day, count(*)::int AS exposures,
         count(DISTINCT s.person) FILTER (WHERE s.timestamp = p.first_at)::int AS persons,
         count(DISTINCT s.person) FILTER (WHERE s.timestamp = p.first_at AND c.last_at >= p.first_at)::int AS conversions,
         (SELECT count(*) FROM exposure)::int AS exposures_read
    FROM seen s JOIN exposed p USING (person) LEFT JOIN converted c USING (person)
   GROUP BY 1, 2 ORDER BY 2, 1`;

/** The start of each day in a time zone. */
export async function findStartOfDay(sql: Sql, day: string, timeZone: string): Promise<Date | undefined> {
  const rows = await sql.query<{ starts_at: Date }>('SELECT $1::date::timestamp AT TIME ZONE $2 AS starts_at', [
    day,
    timeZone,
  ]);
  return rows[0]?.starts_at;
}
