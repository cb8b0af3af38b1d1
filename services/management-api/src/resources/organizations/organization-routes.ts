import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { visibleOrganizationIds } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { refuseProjectScopedKey } from '../../access/key-restrictions.ts';
import { organization, organizationExample } from './organization-schema.ts';
import { listOrganizations } from './organization-store.ts';
import { toOrganization } from './to-organization.ts';

export function organizationRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/organizations',
      operationId: 'organizations_list',
      summary: 'List your organizations',
      description: 'The organizations the caller belongs to and the key may use, the oldest first.',
      tags: ['organizations'],
      scope: 'organization:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of organizations.', schema: offsetPageOf(organization) } },
      examples: { response: { count: 1, next: null, previous: null, results: [organizationExample] } },
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) => {
        const visible = visibleOrganizationIds(caller);
        const rows = await listOrganizations(
          sql,
          { userId: caller.userId, organizationIds: visible, only: null },
          { ...query, isCut: true },
        );
        const results = rows.map((row) => toOrganization(row, caller));
        return offsetPage(request, query, { count: visible.length, results });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id',
      operationId: 'organizations_retrieve',
      summary: 'Read an organization',
      description: 'One organization the caller belongs to.',
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
        // Deleted between the two queries.
        if (!row) throw new AppError('not_found', 'Organization not found.');
        return toOrganization(row, caller);
      },
    }),
  ];
}
