// Declares the routes for the activity log of feature flags, and records changes in the log.

import { recordActivity } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { environmentBasePaths } from '../../../access/addressed-project.ts';
import { defineRoutes } from '../../../access/define-route.ts';
import { requireRecordAccess } from '../../../access/record-rights.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../../../activity/activity-page.ts';
import { type FlagDeps, readPayloads, redactFilters } from '../payloads.ts';
import { flagParams, flagsPath, flagTags as tags } from '../schema.ts';
import { type FlagRow, findFlag } from '../store.ts';
import { copyFlagFields } from './rules.ts';

const scopes = ['FeatureFlag'];

export function flagActivityRoutes({ sql }: Pick<FlagDeps, 'sql'>) {
  const common = {
    method: 'GET',
    tags,
    scope: 'activity_log:read',
    query: activityQuery,
    responses: { 200: { description: 'One page of log entries.', schema: activityPage } },
    examples: { response: activityExample },
    below: environmentBasePaths(sql),
  } as const;
  return [
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/activity`,
      operationId: 'feature_flags_activity',
      summary: 'Show the activity log for all feature flags',
      description: 'Returns the changes made to the feature flags of the project, most recent first.',
      handler: async ({ target: { environmentId, rights }, query, request }) =>
        readActivity(sql, request, {
          ...query,
          scopes,
          environmentId,
          seen: rights,
        }),
    }),
    ...defineRoutes({
      ...common,
      path: `${flagsPath}/:id/activity`,
      operationId: 'feature_flags_activity_of_one',
      summary: "Show a feature flag's activity log",
      description: 'Returns the changes made to one feature flag, most recent first.',
      params: flagParams,
      handler: async ({ target: { environmentId, rights }, params: { id }, query, request }) => {
        requireRecordAccess(rights, { kind: 'feature_flag', needed: 'viewer' }, await findFlag(sql, environmentId, id));
        return readActivity(sql, request, { ...query, scopes, environmentId, itemId: String(id) });
      },
    }),
  ];
}

/** Returns the fields that users can change. Log entries omit the values of encrypted payloads. */
function visible(row: FlagRow) {
  const encrypted = row.has_encrypted_payloads === true ? readPayloads(row) : null;
  return { ...copyFlagFields(row), filters: redactFilters(row), encrypted_payloads: encrypted };
}

export interface FlagAuthor {
  userId: number;
  organizationId: string;
}

export async function recordFlagActivity(
  tx: Transaction,
  { userId, organizationId }: FlagAuthor,
  { before, after }: { before?: FlagRow; after: FlagRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId,
    environmentId: after.environment_id,
    scope: 'FeatureFlag',
    itemId: after.id,
    activity: verbOf(before, after),
    actor: { userId },
    name: after.key,
    ...(before && { change: { before: visible(before), after: visible(after), secret: ['encrypted_payloads'] } }),
  });
}

function verbOf(before: FlagRow | undefined, after: FlagRow): 'created' | 'updated' | 'deleted' | 'restored' {
  if (before === undefined) return 'created';
  if (before.deleted === after.deleted) return 'updated';
  return after.deleted ? 'deleted' : 'restored';
}
