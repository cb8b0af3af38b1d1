import type { Sql } from '@millrace/db';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { visibleOrganizationIds } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { refuseProjectScopedKey } from '../../access/key-restrictions.ts';
import { projectExample, projectSummary } from './project-schema.ts';
import { listProjects } from './project-store.ts';

const page = offsetPageOf(projectSummary);
const pageExample = { count: 1, next: null, previous: null, results: [projectExample] };

export function projectRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects',
      operationId: 'projects_list',
      summary: 'List all projects',
      description: 'The projects of all organizations the caller belongs to and the key may use, by id.',
      tags: ['projects'],
      scope: 'project:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of projects.', schema: page } },
      examples: { response: pageExample },
      target: async ({ caller }) => refuseProjectScopedKey(caller),
      handler: async ({ caller, query, request }) =>
        offsetPage(request, query, await listProjects(sql, visibleOrganizationIds(caller), query)),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/projects',
      operationId: 'organizations_projects_list',
      summary: 'List the projects of an organization',
      description: 'The projects of one organization, by id.',
      tags: ['projects'],
      scope: 'project:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of projects.', schema: page } },
      examples: { response: pageExample },
      target: addressedOrganization(sql),
      handler: async ({ target, query, request }) =>
        offsetPage(request, query, await listProjects(sql, [target.organizationId], query)),
    }),
  ];
}
