// Declares the route that counts how many persons saw each variant of a feature flag, and how many of them converted.

import type { Sql } from '@millrace/db';
import { formatDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../../access/addressed-project.ts';
import { defineRoutes } from '../../../access/define-route.ts';
import { requireScope } from '../../../access/require-scope.ts';
import { createEventRead } from '../../../analytics/events/reads.ts';
import type { EventDeps } from '../../../analytics/events/routes.ts';
import { parseTimeParameter } from '../../../time/relative-time.ts';
import { findTimeZone } from '../../../time/time-zone-store.ts';
import { requireFlag } from '../changes/write.ts';
import { flagParams, flagsPath, flagTags as tags } from '../schema.ts';
import { countExposures, type ExposureDay, type ExposureQuery, findStartOfDay } from './exposure-store.ts';

const maxExposures = 1_000_000;
const maxVariants = 50;

export function flagExposuresRoute({ sql, searches, externalEventStore }: EventDeps) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: `${flagsPath}/:id/exposures`,
    operationId: 'feature_flags_exposures',
    summary: 'Count exposures to a feature flag',
    description:
      "Counts a flag's `$feature_flag_called` events and the persons who sent them, by variant and day. With `conversion_event`, also " +
      `counts how many of these persons performed that event after their first exposure. Covers at most ${maxDays} days and ` +
      `${maxExposures} events. Also requires the scope \`query:read\`.`,
    tags,
    scope: 'feature_flag:read',
    params: flagParams,
    query: Type.Object({
      date_from: Type.String({
        default: '-30d',
        description:
          'Start of the date range: a day in the project time zone, an ISO 8601 time, or a relative time such as `-7d`.',
      }),
      date_to: Type.Optional(
        Type.String({
          description: 'End of the date range. A day is included in full; a time is excluded. Defaults to now.',
        }),
      ),
      conversion_event: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'Name of the event that counts as a conversion.' }),
      ),
    }),
    responses: { 200: { description: 'The counts.', schema: exposuresResponse } },
    examples: { response: exposuresExample },
    handler: async ({ caller, target, params: { id }, query, request }) => {
      requireScope(caller, 'query:read');
      const { environmentId } = target;
      const flag = await requireFlag(sql, target, { id, needed: 'viewer' });
      const timeZone = await findTimeZone(sql, environmentId);
      const counted = {
        flagKey: flag.key,
        timeZone,
        ...(await exposureRange(sql, query, timeZone)),
        conversionEvent: query.conversion_event ?? null,
        maxExposures,
        maxVariants,
      };
      const rows = await searches.run({ caller, target }, 'date_from and date_to', (on) =>
        countExposures(
          createEventRead(externalEventStore, {
            sql: on,
            projectId: environmentId,
            signal: request.disconnectSignal(),
            isRepeated: true,
          }),
          counted,
        ),
      );
      if ((rows[0]?.exposures_read ?? 0) > maxExposures) {
        const detail = `The flag was called more than ${maxExposures} times in this date range. Choose a shorter date range.`;
        throw new AppError('invalid', detail, { code: 'too_many_exposures', attr: 'date_from' });
      }
      return toExposures(counted, rows);
    },
  });
}

interface RequestedRange {
  date_from: string;
  date_to?: string | undefined;
}

/**
 * Maximum length of the time range in days. It is limited because all events in the range are read, but it is
 * sufficient for experiments, which run for several weeks.
 */
const maxDays = 92;
const dayMs = 86_400_000;
const day = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads the query's time range, which includes its last day and is in the project's time zone.
 * @throws AppError `invalid` naming `date_from` or `date_to`
 */
async function exposureRange(sql: Sql, requested: RequestedRange, timeZone: string): Promise<{ from: Date; to: Date }> {
  const now = new Date();
  const read = async (field: keyof RequestedRange, text: string, daysLater: number): Promise<Date> => {
    const time = parseTimeParameter(text, field, now);
    if (!day.test(text)) return time;
    const wanted = new Date(time.getTime() + daysLater * dayMs).toISOString().slice(0, 10);
    return (await findStartOfDay(sql, wanted, timeZone)) ?? time;
  };
  const from = await read('date_from', requested.date_from, 0);
  const to = requested.date_to === undefined ? now : await read('date_to', requested.date_to, 1);
  if (to <= from) throw refusal('date_to', '`date_to` must be later than `date_from`.');
  // Allow one additional hour, because a day can have 25 hours.
  if (to.getTime() - from.getTime() > maxDays * dayMs + 3_600_000) {
    throw refusal('date_from', `The date range must not exceed ${maxDays} days. Choose a later \`date_from\`.`);
  }
  return { from, to };
}

function refusal(attr: string, message: string): AppError {
  return new AppError('invalid', message, { code: 'invalid_input', attr });
}

interface Counts {
  variant: string;
  exposures: number;
  persons: number;
  /** The number of persons who sent the conversion event, or null if the query does not specify one. */
  conversions: number | null;
}

interface Exposures {
  date_from: string;
  date_to: string;
  timezone: string;
  conversion_event: string | null;
  persons: number;
  exposures: number;
  variants: Counts[];
  days: (Counts & { day: string })[];
}

/** Converts the results to an API response, which contains the results of each day and their totals. */
function toExposures(query: ExposureQuery, rows: readonly ExposureDay[]): Exposures {
  const conversionsOf = (count: number) => (query.conversionEvent === null ? null : count);
  const variants = new Map<string, { variant: string; exposures: number; persons: number; conversions: number }>();
  for (const { variant, exposures, persons, conversions } of rows) {
    const sum = variants.get(variant) ?? { variant, exposures: 0, persons: 0, conversions: 0 };
    sum.exposures += exposures;
    sum.persons += persons;
    sum.conversions += conversions;
    variants.set(variant, sum);
  }
  const sums = [...variants.values()].sort((one, other) => (one.variant < other.variant ? -1 : 1));
  return {
    date_from: formatDateTime(query.from),
    date_to: formatDateTime(query.to),
    timezone: query.timeZone,
    conversion_event: query.conversionEvent,
    persons: sums.reduce((count, { persons }) => count + persons, 0),
    exposures: sums.reduce((count, { exposures }) => count + exposures, 0),
    variants: sums.map((sum) => ({ ...sum, conversions: conversionsOf(sum.conversions) })),
    days: rows.map(({ day, variant, exposures, persons, conversions }) => ({
      day,
      variant,
      exposures,
      persons,
      conversions: conversionsOf(conversions),
    })),
  };
}

const counts = {
  variant: Type.String({
    description:
      'Value that SDKs received: a variant key, `true` or `false`. `$multiple` stands for persons who received several values, ' +
      '`$none` for events without a value, and `$other` for all values beyond the 50 most frequent.',
  }),
  exposures: Type.Integer({ description: 'Number of `$feature_flag_called` events.' }),
  persons: Type.Integer({
    description: 'Number of unique persons. Each person is counted once, on the day of their first exposure.',
  }),
  conversions: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'Number of these persons who performed the conversion event after their first exposure. Null without `conversion_event`.',
  }),
};

const exposuresResponse = Type.Object(
  {
    date_from: Type.String({ format: 'date-time', description: 'Start of the date range (inclusive).' }),
    date_to: Type.String({ format: 'date-time', description: 'End of the date range (exclusive).' }),
    timezone: Type.String({ description: 'Project time zone, in which the days are counted.' }),
    conversion_event: Type.Union([Type.String(), Type.Null()], { description: 'The requested conversion event.' }),
    persons: Type.Integer({ description: 'Number of unique persons, across all variants.' }),
    exposures: Type.Integer({ description: 'Number of `$feature_flag_called` events, across all variants.' }),
    variants: Type.Array(Type.Object(counts), { description: 'Counts by variant, for the entire date range.' }),
    days: Type.Array(Type.Object({ day: Type.String({ format: 'date', description: 'The day.' }), ...counts }), {
      description: 'Counts by day and variant. Days without exposures are left out.',
    }),
  },
  { title: 'FeatureFlagExposures' },
);

const exposuresExample: Exposures = {
  date_from: '2026-11-01T00:00:00Z',
  date_to: '2026-11-22T00:00:00Z',
  timezone: 'UTC',
  conversion_event: 'order placed',
  persons: 2,
  exposures: 3,
  variants: [
    { variant: 'control', exposures: 1, persons: 1, conversions: 0 },
    { variant: 'test', exposures: 2, persons: 1, conversions: 1 },
  ],
  days: [
    { day: '2026-11-20', variant: 'control', exposures: 1, persons: 1, conversions: 0 },
    { day: '2026-11-20', variant: 'test', exposures: 2, persons: 1, conversions: 1 },
  ],
};
