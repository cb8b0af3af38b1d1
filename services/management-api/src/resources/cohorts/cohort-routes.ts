import type { Database } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { cohortHistoryRoutes } from './cohort-history-routes.ts';
import { cohortParams, cohortsPath, cohortTags as tags } from './cohort-params.ts';
import { cohort, cohortExample } from './cohort-schema.ts';
import { findCohort, listCohorts } from './cohort-store.ts';
import { cohortWriteRoutes } from './cohort-write-routes.ts';
import { memberRoutes } from './members/member-routes.ts';
import { personListRoute } from './members/person-list-route.ts';
import { toCohort } from './to-cohort.ts';

const listQuery = Type.Object({
  ...offsetQuery,
  type: Type.Optional(Type.String({ description: '`static` or `dynamic`.' })),
  created_by_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Number of the user who made them.' }),
  ),
  search: Type.Optional(Type.String({ description: 'Part of the name, in any case.' })),
  hide_behavioral_cohorts: Type.Optional(
    Type.Boolean({ description: 'Whether to leave out those that ask for behaviour.' }),
  ),
});

/** Cohorts: persons who have something in common, or are listed one by one. */
export function cohortRoutes(database: Pick<Database, 'sql' | 'transaction'>) {
  // What ends in a word comes before what ends in an id.
  return [
    ...cohortHistoryRoutes(database),
    ...readRoutes(database),
    ...cohortWriteRoutes(database),
    ...memberRoutes(database),
    personListRoute(database),
  ];
}

function readRoutes({ sql }: Pick<Database, 'sql'>) {
  const target = addressedProject(sql);
  return [
    defineRoute({
      method: 'GET',
      path: cohortsPath,
      operationId: 'cohorts_list',
      summary: 'List cohorts',
      description: 'The cohorts of a project, the newest first, without the deleted ones.',
      tags,
      scope: 'cohort:read',
      params: projectParams,
      query: listQuery,
      responses: { 200: { description: 'One page of cohorts.', schema: offsetPageOf(cohort) } },
      examples: { response: { count: 1, next: null, previous: null, results: [cohortExample] } },
      target,
      handler: async ({ target: { environmentId }, query, request }) => {
        const { count, rows } = await listCohorts(sql, environmentId, { ...query, filter: query });
        return offsetPage(request, query, { count, results: rows.map(toCohort) });
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${cohortsPath}/:id`,
      operationId: 'cohorts_retrieve',
      summary: 'Show a cohort',
      description: 'One cohort, also when it is deleted.',
      tags,
      scope: 'cohort:read',
      params: cohortParams,
      responses: { 200: { description: 'The cohort.', schema: cohort } },
      examples: { response: cohortExample },
      target,
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const row = await findCohort(sql, environmentId, id);
        if (!row) throw new AppError('not_found', 'Not found.');
        return toCohort(row);
      },
    }),
  ];
}
