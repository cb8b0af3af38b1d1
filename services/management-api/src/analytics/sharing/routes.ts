import type { Database } from '@millrace/db';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { dashboardParams, dashboardsPath } from '../dashboards/schema.ts';
import { insightParams, insightsPath } from '../insights/schema.ts';
import {
  rejectedSharingFields,
  sharing,
  sharingChanges,
  sharingExample,
  sharingTags as tags,
  toSharing,
} from './schema.ts';
import type { SharedKind } from './store.ts';
import { changeSharing, readSharing, replacePublicLink } from './write.ts';

/** Declares the routes that read and change public links for insights and dashboards (docs/api/sharing.md). */
export function sharingRoutes(deps: Pick<Database, 'sql' | 'transaction'>) {
  return [...routesOf(deps, 'insight'), ...routesOf(deps, 'dashboard')];
}

function routesOf({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>, kind: SharedKind) {
  const path = `${kind === 'insight' ? insightsPath : dashboardsPath}/:id/sharing`;
  const common = {
    below: environmentBasePaths(sql),
    tags,
    params: Type.Object({ id: (kind === 'insight' ? insightParams : dashboardParams).properties.id }),
    responses: { 200: { description: 'The sharing configuration.', schema: sharing } },
  };
  return [
    ...defineRoutes({
      ...common,
      method: 'GET',
      path,
      operationId: `${kind}s_sharing_list`,
      summary: `Show the public link of ${kind === 'insight' ? 'an insight' : 'a dashboard'}`,
      description: `Returns whether the ${kind} is shared, and its link. Also requires the scope \`${kind}:read\`.`,
      scope: 'sharing_configuration:read',
      examples: { response: sharingExample },
      handler: async ({ caller, target, params: { id } }) =>
        toSharing(await readSharing(sql, { caller, target }, { kind, name: String(id) })),
    }),
    ...defineRoutes({
      ...common,
      method: 'PATCH',
      path,
      operationId: `${kind}s_sharing_partial_update`,
      summary: `Share ${kind === 'insight' ? 'an insight' : 'a dashboard'} by a public link, or stop sharing it`,
      description:
        `Changes the fields that are sent. You need edit access to the ${kind} and the scope \`${kind}:read\`, and the ` +
        'organization setting `allow_publicly_shared_resources` must be on. Anyone who has the link can see the numbers ' +
        'without signing in.',
      scope: 'sharing_configuration:write',
      body: sharingChanges,
      refusedBody: rejectedSharingFields,
      examples: { request: { enabled: true }, response: sharingExample },
      handler: async ({ caller, target, params: { id }, body: changes }) => {
        const addressed = { kind, name: String(id), changes };
        return toSharing(await transaction((tx) => changeSharing(tx, { caller, target }, addressed)));
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: `${path}/refresh`,
      operationId: `${kind}s_sharing_refresh_create`,
      summary: `Replace the public link of ${kind === 'insight' ? 'an insight' : 'a dashboard'}`,
      description:
        'Creates a new `access_token`. The former link stops working immediately. You need edit access to the ' +
        `${kind} and the scope \`${kind}:read\`.`,
      scope: 'sharing_configuration:write',
      examples: { response: sharingExample },
      handler: async ({ caller, target, params: { id } }) => {
        const addressed = { kind, name: String(id) };
        return toSharing(await transaction((tx) => replacePublicLink(tx, { caller, target }, addressed)));
      },
    }),
  ];
}
