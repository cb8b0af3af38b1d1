import { findPerson, type Sql } from '@millrace/db';
import { findCohortsOfPerson } from '@millrace/flags/cohorts';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireScope } from '../../access/require-scope.ts';
import type { Searches } from '../../access/searches.ts';
import { cohort, cohortExample, toCohort } from './schema.ts';
import { listCohortIds, listCohorts } from './store.ts';

/**
 * Declares the route that lists a person's cohorts. Evaluates dynamic cohorts at the time of the request, so the result
 * does not depend on when a cohort was last calculated.
 */
export function personCohortsRoute({ sql, searches }: { sql: Sql; searches: Searches }) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/persons/cohorts',
    operationId: 'persons_cohorts_retrieve',
    summary: "List a person's cohorts",
    description:
      'Returns the cohorts that a person currently belongs to, newest first. Deleted cohorts are left out. Also ' +
      'requires the scope `cohort:read`.',
    tags: ['persons'],
    scope: 'person:read',
    query: Type.Object({
      ...offsetQuery,
      person_id: Type.String({ minLength: 1, description: 'UUID, numeric ID or distinct ID of the person.' }),
    }),
    responses: { 200: { description: 'One page of cohorts.', schema: offsetPageSchema(cohort) } },
    examples: { response: { count: 1, next: null, previous: null, results: [cohortExample] } },
    handler: async ({ caller, target, query, request }) => {
      requireScope(caller, 'cohort:read');
      const { environmentId } = target;
      const { uuid: personUuid } = await findPerson(sql, environmentId, query.person_id);
      const ids = await searches.run({ caller, target }, null, async (on) => {
        const cohortIds = await listCohortIds(on, target);
        return findCohortsOfPerson(on, environmentId, { personUuid, cohortIds });
      });
      return offsetPage(request, query, async (window) => {
        const { count, rows } = await listCohorts(sql, target, { ...window, filter: { ids } });
        return { count, results: rows.map(toCohort) };
      });
    },
  });
}
