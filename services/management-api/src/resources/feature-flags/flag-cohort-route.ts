import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { addressedProject } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { requireScope } from '../../access/require-scope.ts';
import { cohort, cohortExample } from '../cohorts/cohort-schema.ts';
import { toCohort } from '../cohorts/to-cohort.ts';
import { createCohort } from '../cohorts/write-cohort.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagParams, flagsPath, flagTags as tags } from './flag-params.ts';
import { findFlagKeys } from './flag-store.ts';

/** Keeping who has a flag now. */
export function flagCohortRoute({ sql, transaction }: Pick<FlagDeps, 'sql' | 'transaction'>) {
  return defineRoute({
    method: 'POST',
    path: `${flagsPath}/:id/create_static_cohort_for_flag`,
    operationId: 'feature_flags_create_static_cohort_for_flag',
    summary: 'Make a cohort of those who have a feature flag',
    description:
      'Makes a static cohort that is filled, in the background, with the persons for whom the flag is on. Needs `feature_flag:read` as well.',
    tags,
    scope: 'cohort:write',
    params: flagParams,
    responses: {
      201: {
        description: 'The cohort.',
        schema: Type.Object({ cohort }),
      },
    },
    examples: { response: { cohort: cohortExample } },
    target: addressedProject(sql),
    handler: async ({ caller, target, params: { id } }) => {
      requireScope(caller, 'feature_flag:read');
      const key = (await findFlagKeys(sql, target.environmentId, [id])).get(id);
      if (key === undefined) throw new AppError('not_found', 'Not found.');
      const body = { name: `Users with feature flag ${key} enabled at ${new Date().toISOString()}`, is_static: true };
      const row = await transaction((tx) =>
        createCohort(tx, { userId: caller.userId, target }, { body, fillFrom: { flag: id } }),
      );
      return { cohort: toCohort(row) };
    },
  });
}
