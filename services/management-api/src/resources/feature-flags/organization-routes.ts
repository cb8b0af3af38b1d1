import { formatDateTime, freeFormObject } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { defineRoute } from '../../access/define-route.ts';
import { mayDo, nameOf, readRecordRights } from '../../access/record-rights.ts';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import { copyAnswer, copyExample, copyFlag, flagCopy, parseFlagCopy } from './copy.ts';
import { type FlagDeps, redactedFilters } from './payloads.ts';
import { featureFlagExample, flagTags as tags } from './schema.ts';
import { type FlagRow, findEnvironmentsOfOrganization, findFlagsByKey } from './store.ts';

const path = '/api/organizations/:organization_id/feature_flags';

const flagsOfKey = Type.Array(
  Type.Object({
    flag_id: Type.Integer({ description: 'Number of the flag.' }),
    team_id: Type.Integer({ description: 'Id of its environment.' }),
    created_by: Type.Union([embeddedUser, Type.Null()], { description: 'Who made it.' }),
    filters: freeFormObject({ description: 'Who gets it, and what.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
    active: Type.Boolean({ description: 'Whether it is on for anybody.' }),
  }),
);

/** One flag in all projects of an organization. `copy_flags` comes before `:key`, which would take it for one. */
export function organizationFlagRoutes({ sql, transaction, payloadSecrets: secrets }: FlagDeps) {
  const target = addressedOrganization(sql);
  return [
    defineRoute({
      method: 'POST',
      path: `${path}/copy_flags`,
      operationId: 'organizations_feature_flags_copy_flags',
      summary: 'Copy a feature flag to other projects',
      description:
        'Makes the flag in each project, or changes the one that has its key there. Cohorts that a project lacks are copied, with those they are made of, and found by their names; a static one comes without its members. Flags it depends on have to be there.',
      tags,
      scope: 'feature_flag:write',
      params: organizationParams,
      body: flagCopy,
      responses: { 200: { description: 'What became of each project.', schema: copyAnswer } },
      examples: copyExample,
      target,
      handler: async ({ caller, target: { organizationId }, body }) =>
        copyFlag({ sql, transaction, secrets }, { caller, organizationId }, parseFlagCopy(body)),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:key`,
      operationId: 'organizations_feature_flags_retrieve',
      summary: 'Show a feature flag in all projects',
      description: 'The flags with this key of all projects of the organization that the caller may use.',
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
          if (rights && mayDo(rights, 'feature_flag', 'viewer', nameOf(row))) seen.push(row);
        }
        return seen.map((row) => ({
          flag_id: row.id,
          team_id: row.environment_id,
          created_by: row.created_by,
          filters: redactedFilters(row),
          created_at: formatDateTime(row.created_at),
          active: row.active,
        }));
      },
    }),
  ];
}
