import { changeOrganization, removeOrganization } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database, Sql } from '@millrace/db';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { type Caller, getVisibleOrganizationIds, refuseProjectScopedKey } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { createOwnOrganization } from './rules.ts';
import {
  newOrganization,
  organization,
  organizationChanges,
  organizationExample,
  refusedOrganizationFields,
  toOrganization,
} from './schema.ts';
import { listOrganizations } from './store.ts';

export function organizationRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/organizations',
      operationId: 'organizations_list',
      summary: 'List your organizations',
      description: 'Returns the organizations that the caller belongs to and the API key can access, oldest first.',
      tags: ['organizations'],
      scope: 'organization:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of organizations.', schema: offsetPageSchema(organization) } },
      examples: { response: { count: 1, next: null, previous: null, results: [organizationExample] } },
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) => {
        const organizationIds = getVisibleOrganizationIds(caller);
        return offsetPage(request, query, async (window) => {
          const reach = { userId: caller.userId, organizationIds, only: null };
          const rows = await listOrganizations(sql, reach, { ...window, isCut: true });
          return { count: organizationIds.length, results: rows.map((row) => toOrganization(row, caller)) };
        });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id',
      operationId: 'organizations_retrieve',
      summary: 'Show an organization',
      description: 'Returns one organization that the caller belongs to.',
      tags: ['organizations'],
      scope: 'organization:read',
      params: organizationParams,
      responses: { 200: { description: 'The organization.', schema: organization } },
      examples: { response: organizationExample },
      target: addressedOrganization(sql),
      handler: async ({ caller, target }) => {
        const [row] = await listOrganizations(
          sql,
          { userId: caller.userId, organizationIds: [target.organizationId], only: null },
          { limit: 1, offset: 0 },
        );
        // The organization was deleted between the two queries.
        if (!row) throw new AppError('not_found', 'Organization not found.');
        return toOrganization(row, caller);
      },
    }),
  ];
}

export function organizationWriteRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const show = async (organizationId: string, caller: Caller) => {
    const [row] = await listOrganizations(
      sql,
      { userId: caller.userId, organizationIds: [organizationId], only: null },
      { limit: 1, offset: 0 },
    );
    if (!row) throw new AppError('not_found', 'Organization not found.');
    return toOrganization(row, caller);
  };

  return [
    defineRoute({
      method: 'POST',
      path: '/api/organizations',
      operationId: 'organizations_create',
      summary: 'Create an organization',
      description:
        'Creates an organization and its first project. The caller becomes the owner, and the organization becomes ' +
        "the caller's current organization (`@current`).",
      tags: ['organizations'],
      scope: 'organization:write',
      body: newOrganization,
      refusedBody: refusedOrganizationFields,
      responses: { 201: { description: 'The new organization.', schema: organization } },
      examples: { request: { name: 'Example Ltd' }, response: organizationExample },
      target: async ({ caller }) => {
        refuseProjectScopedKey(caller);
        // A key that is limited to some organizations could not access the new organization.
        if (caller.scopedOrganizations.length > 0) {
          throw new AppError('forbidden', 'API keys with scoped organizations cannot create organizations.');
        }
      },
      handler: async ({ caller, body }) => {
        refuseLogo(body.logo_media_id);
        const organizationId = await transaction((tx) => createOwnOrganization(tx, caller, body));
        const membership = { organizationId, level: membershipLevels.owner };
        return show(organizationId, { ...caller, memberships: [membership, ...caller.memberships] });
      },
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      defineRoute({
        method,
        path: '/api/organizations/:organization_id',
        operationId: method === 'PUT' ? 'organizations_update' : 'organizations_partial_update',
        summary: method === 'PUT' ? 'Update an organization' : 'Update an organization',
        description: 'Changes the fields that are sent and leaves all others unchanged.',
        tags: ['organizations'],
        scope: 'organization:write',
        isSensitive: true,
        params: organizationParams,
        body: method === 'PUT' ? newOrganization : organizationChanges,
        refusedBody: refusedOrganizationFields,
        responses: { 200: { description: 'The updated organization.', schema: organization } },
        examples: { request: { name: 'Example Ltd' }, response: organizationExample },
        level: membershipLevels.administrator,
        target: addressedOrganization(sql),
        handler: async ({ caller, target, body }) => {
          const { logo_media_id: logo, ...changes } = body;
          refuseLogo(logo);
          const { organizationId } = target;
          await transaction((tx) => changeOrganization(tx, { organizationId, changes, actor: caller }));
          return show(organizationId, caller);
        },
      }),
    ),
    defineRoute({
      method: 'DELETE',
      path: '/api/organizations/:organization_id',
      operationId: 'organizations_destroy',
      summary: 'Delete an organization',
      description:
        'Immediately deletes the organization and its projects, members, invites and domains. Events and persons ' +
        'are deleted in the background.',
      tags: ['organizations'],
      scope: 'organization:write',
      isSensitive: true,
      params: organizationParams,
      responses: { 204: { description: 'The organization was deleted.' } },
      level: membershipLevels.owner,
      target: addressedOrganization(sql),
      handler: async ({ caller, target: { organizationId } }) => {
        await transaction((tx) => removeOrganization(tx, { organizationId, actor: caller }));
        return undefined;
      },
    }),
  ];
}

/** Rejects a logo ID. Millrace does not support logos and would store the ID without effect. */
function refuseLogo(id: string | null | undefined): void {
  if (id === undefined || id === null) return;
  throw new AppError('invalid', `Invalid pk "${id.slice(0, 100)}" - object does not exist.`, {
    code: 'does_not_exist',
    attr: 'logo_media_id',
  });
}
