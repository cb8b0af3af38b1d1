import type { Sql } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../../activity/activity-page.ts';
import { cohortParams, cohortsPath, cohortTags as tags } from './schema.ts';
import { listCalculations } from './store.ts';
import { requireCohort } from './write.ts';

const scopes = ['Cohort'];
const nullable = <S extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(
  schema: S,
  description: string,
) => Type.Union([schema, Type.Null()], { description });

const calculation = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the calculation.' }),
    started_at: Type.String({ format: 'date-time', description: 'When the calculation started.' }),
    finished_at: nullable(
      Type.String({ format: 'date-time' }),
      'When the calculation ended; null while it is running.',
    ),
    count: nullable(Type.Integer(), 'Number of persons found.'),
    error: nullable(Type.String(), 'Reason why the calculation failed, or null if it did not fail.'),
  },
  { title: 'CohortCalculation' },
);

export function cohortHistoryRoutes({ sql }: { sql: Sql }) {
  const below = environmentBasePaths(sql);
  const activity = {
    method: 'GET',
    tags,
    scope: 'cohort:read',
    query: activityQuery,
    responses: { 200: { description: 'One page of log entries.', schema: activityPage } },
    examples: { response: activityExample },
    below,
  } as const;

  return [
    ...defineRoutes({
      ...activity,
      path: `${cohortsPath}/activity`,
      operationId: 'cohorts_activity',
      summary: 'Show the activity log for all cohorts',
      description: 'Returns the changes made to the cohorts of the project, most recent first.',
      handler: async ({ target: { environmentId, rights }, query, request }) =>
        readActivity(sql, request, {
          ...query,
          scopes,
          environmentId,
          seen: rights,
        }),
    }),
    ...defineRoutes({
      ...activity,
      path: `${cohortsPath}/:id/activity`,
      operationId: 'cohorts_activity_of_one',
      summary: "Show a cohort's activity log",
      description: 'Returns the changes made to one cohort, most recent first.',
      params: cohortParams,
      handler: async ({ target, params: { id }, query, request }) => {
        const { environmentId } = target;
        await requireCohort(sql, target, { id, needed: 'viewer' });
        return readActivity(sql, request, { ...query, scopes, environmentId, itemId: String(id) });
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${cohortsPath}/:id/calculation_history`,
      operationId: 'cohorts_calculation_history',
      summary: "Show a cohort's calculation history",
      description:
        'Returns when each calculation of the cohort ran, how many persons it found, and the reason if it failed.',
      tags,
      scope: 'cohort:read',
      params: cohortParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of calculations.', schema: offsetPageSchema(calculation) } },
      examples: {
        response: {
          count: 1,
          next: null,
          previous: null,
          results: [
            {
              id: '0193f0c5-7a4e-7000-8000-0000000000c1',
              started_at: '2026-11-01T12:00:01Z',
              finished_at: '2026-11-01T12:00:02Z',
              count: 17,
              error: null,
            },
          ],
        },
      },
      handler: async ({ target, params: { id }, query, request }) => {
        await requireCohort(sql, target, { id, needed: 'viewer' });
        return offsetPage(request, query, async (window) => {
          const { count, rows } = await listCalculations(sql, id, window);
          const results = rows.map((row) => ({
            ...row,
            started_at: formatDateTime(row.started_at),
            finished_at: row.finished_at && formatDateTime(row.finished_at),
          }));
          return { count, results };
        });
      },
    }),
  ];
}
