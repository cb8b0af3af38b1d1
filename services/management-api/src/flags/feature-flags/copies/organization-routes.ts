import { formatDateTime, freeFormObject } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../../access/addressed-organization.ts';
import { defineRoute } from '../../../access/define-route.ts';
import { hasRecordLevel, readRecordRights, toRecordName } from '../../../access/record-rights.ts';
import { embeddedUser, embeddedUserExample } from '../../../identity/embedded-users/embedded-user.ts';
import { type FlagDeps, redactFilters } from '../payloads.ts';
import { featureFlagExample, flagTags as tags } from '../schema.ts';
import { type FlagRow, findEnvironmentsOfOrganization, findFlagsByKey } from '../store.ts';
import { copyExample, copyFlag, copyResponse, flagCopy, parseFlagCopy } from './copy.ts';

const path = '/api/organizations/:organization_id/feature_flags';

const flagsOfKey = Type.Array(
  Type.Object({
    flag_id: Type.Integer({ description: 'ID of the flag.' }),
    team_id: Type.Integer({ description: "ID of the flag's environment." }),
    created_by: Type.Union([embeddedUser, Type.Null()], { description: 'User who created the flag.' }),
    filters: freeFormObject({ description: 'Release conditions, variants and payloads.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the flag was created.' }),
    active: Type.Boolean({ description: 'Whether the flag is enabled.' }),
  }),
);

/**
 * Declares the routes for a flag in all projects of an organization. `copy_flags` comes before `:key`, which would
 * match it too.
 */
export function organizationFlagRoutes({ sql, transaction, payloadSecrets: secrets }: FlagDeps) {
  const target = addressedOrganization(sql);
  return [
    defineRoute({
      method: 'POST',
      path: `${path}/copy_flags`,
      operationId: 'organizations_feature_flags_copy_flags',
      summary: 'Copy a feature flag to other projects',
      description:
        'Creates the flag in each target project, or updates the flag that has the same key there. Cohorts are matched by name. Missing ' +
        'cohorts are created, including the cohorts that they refer to. Creating cohorts requires the scope `cohort:write`. Static cohorts are ' +
        'copied without their members. Flags that the flag depends on must already exist in the target project.',
      tags,
      scope: 'feature_flag:write',
      params: organizationParams,
      body: flagCopy,
      responses: { 200: { description: 'The result for each target project.', schema: copyResponse } },
      examples: copyExample,
      target,
      handler: async ({ caller, target: { organizationId }, body }) =>
        copyFlag({ sql, transaction, secrets }, { caller, organizationId }, parseFlagCopy(body)),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:key`,
      operationId: 'organizations_feature_flags_retrieve',
      summary: 'Show a feature flag in all projects of an organization',
      description:
        'Returns the flags with this key from all projects in the organization that the caller has access to.',
      tags,
      scope: 'feature_flag:read',
      params: Type.Object({
        ...organizationParams.properties,
        key: Type.String({ maxLength: 400, description: 'Key of the flag.' }),
      }),
      responses: { 200: { description: 'The flags.', schema: flagsOfKey } },
      examples: {
        response: [
          {
            flag_id: 1,
            team_id: 1,
            created_by: embeddedUserExample,
            filters: featureFlagExample.filters,
            created_at: featureFlagExample.created_at,
            active: true,
          },
        ],
      },
      target,
      handler: async ({ caller: { userId }, target: { organizationId }, params: { key } }) => {
        const environments = await findEnvironmentsOfOrganization(sql, { userId, organizationId });
        const ids = environments.map(({ environmentId }) => environmentId);
        const rows = await findFlagsByKey(sql, ids, key);
        const seen: FlagRow[] = [];
        for (const row of rows) {
          const found = environments.find(({ environmentId }) => environmentId === row.environment_id);
          const rights = found && (await readRecordRights(sql, userId, found));
          if (rights && hasRecordLevel(rights, 'feature_flag', 'viewer', toRecordName(row))) seen.push(row);
        }
        return seen.map((row) => ({
          flag_id: row.id,
          team_id: row.environment_id,
          created_by: row.created_by,
          filters: redactFilters(row),
          created_at: formatDateTime(row.created_at),
          active: row.active,
        }));
      },
    }),
  ];
}
