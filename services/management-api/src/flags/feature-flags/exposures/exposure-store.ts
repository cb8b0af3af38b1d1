// SQL that counts the persons exposed to each variant of a feature flag, and their conversions.

import type { Sql } from '@millrace/db';
import { createBudget, type StoreRead } from '../../../analytics/events/reads.ts';

export interface ExposureQuery {
  flagKey: string;
  /** Inclusive start of the time range. */
  from: Date;
  /** Exclusive end of the time range. */
  to: Date;
  timeZone: string;
  conversionEvent: string | null;
  maxExposures: number;
  /** Maximum number of variants. The least frequent variants are combined as `$other`. */
  maxVariants: number;
}

/** The results for persons whose first exposure to a variant was on this day. */
export interface ExposureDay extends Record<string, unknown> {
  variant: string;
  /** A day such as `2026-11-22`, in the query's time zone. */
  day: string;
  exposures: number;
  persons: number;
  /** How many of the day's persons sent the conversion event after their first exposure. */
  conversions: number;
  /** The total number of exposures. If it exceeds `maxExposures`, some exposures were not read. */
  exposures_read: number;
}

/**
 * Counts exposures by variant and day. Each person counts only once, on the day of the first exposure, for the variant
 * that the person saw. Persons who saw several variants are counted under `$multiple`.
 */
export async function countExposures(
  read: StoreRead,
  { from, to, flagKey, timeZone, conversionEvent, maxExposures: most, maxVariants }: ExposureQuery,
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
        projectId: read.projectId,
        events: ['$feature_flag_called'],
        where: isFlag,
        from: from.getTime(),
        to: to.getTime(),
      },
      response: {
        property: { of: 'event', key: '$feature_flag_response' },
        isUrl: false,
        isBoolean: false,
        bins: null,
      },
      edges: days.map(({ starts_at }) => starts_at.getTime()),
      conversionEvent,
      maxCalls: most,
      maxVariants,
    },
    createBudget(read),
  );
  return rows.map(({ bucket, read: exposures_read, ...row }) => ({
    ...row,
    exposures_read,
    day: days[bucket]?.day ?? '',
  }));
}

export async function findStartOfDay(sql: Sql, day: string, timeZone: string): Promise<Date | undefined> {
  const rows = await sql.query<{ starts_at: Date }>('SELECT $1::date::timestamp AT TIME ZONE $2 AS starts_at', [
    day,
    timeZone,
  ]);
  return rows[0]?.starts_at;
}
