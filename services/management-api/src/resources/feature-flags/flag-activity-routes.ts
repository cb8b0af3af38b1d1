import { AppError } from '@millrace/errors';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../activity/activity-page.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagParams, flagsPath, flagTags as tags } from './flag-params.ts';
import { findFlagKeys } from './flag-store.ts';

const scopes = ['FeatureFlag'];

/** Who changed which flag, and how. */
export function flagActivityRoutes({ sql }: Pick<FlagDeps, 'sql'>) {
  const common = {
    method: 'GET',
    tags,
    scope: 'activity_log:read',
    query: activityQuery,
    responses: { 200: { description: 'One page of records.', schema: activityPage } },
    examples: { response: activityExample },
    target: addressedProject(sql),
  } as const;
  return [
    defineRoute({
      ...common,
      path: `${flagsPath}/activity`,
      operationId: 'feature_flags_activity',
      summary: 'Show who changed feature flags',
      description: 'What was done to the flags of a project, the latest first.',
      params: projectParams,
      handler: async ({ target: { environmentId }, query, request }) =>
        readActivity(sql, request, { ...query, scopes, environmentId }),
    }),
    defineRoute({
      ...common,
      path: `${flagsPath}/:id/activity`,
      operationId: 'feature_flags_activity_of_one',
      summary: 'Show who changed a feature flag',
      description: 'What was done to one flag, the latest first.',
      params: flagParams,
      handler: async ({ target: { environmentId }, params: { id }, query, request }) => {
        const isKnown = (await findFlagKeys(sql, environmentId, [id])).has(id);
        if (!isKnown) throw new AppError('not_found', 'Not found.');
        return readActivity(sql, request, { ...query, scopes, environmentId, itemId: String(id) });
      },
    }),
  ];
}
