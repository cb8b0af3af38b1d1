import { type Route, routeProblems } from '@millrace/http';
import type { Caller } from './access/caller.ts';
import { declaredRoutes } from './testing/declared-routes.ts';

/** Declarations only: no handler is called. */
const declared: Route<Caller>[] = declaredRoutes();

test('every route is described, has one success answer with a schema, and examples that fit', () => {
  expect(routeProblems(declared)).toEqual([]);
});

test('scopes are those of the contract', () => {
  expect(Object.fromEntries(declared.map((route) => [`${route.method} ${route.path}`, route.scope]))).toEqual({
    'GET /api/organizations': 'organization:read',
    'GET /api/organizations/:organization_id': 'organization:read',
    'GET /api/projects': 'project:read',
    'GET /api/organizations/:organization_id/projects': 'project:read',
    'GET /api/users/@me': 'user:read',
    'PATCH /api/users/@me': 'user:write',
    'GET /api/users': 'user:read',
    'GET /api/users/:uuid': 'user:read',
    'POST /api/organizations': 'organization:write',
    'PATCH /api/organizations/:organization_id': 'organization:write',
    'GET /api/signup/:id': 'public',
    'POST /api/signup/:id': 'public',
    'POST /api/invites/:id/accept': 'user:write',
    'POST /api/organizations/:organization_id/domains': 'organization:write',
    'GET /api/organizations/:organization_id/domains': 'organization:read',
    'GET /api/organizations/:organization_id/domains/:id': 'organization:read',
    'PATCH /api/organizations/:organization_id/domains/:id': 'organization:write',
    'DELETE /api/organizations/:organization_id/domains/:id': 'organization:write',
    'POST /api/organizations/:organization_id/domains/:id/verify': 'organization:write',
    'GET /api/organizations/:organization_id/invites': 'organization_member:read',
    'POST /api/organizations/:organization_id/invites': 'organization_member:write',
    'POST /api/organizations/:organization_id/invites/bulk': 'organization_member:write',
    'DELETE /api/organizations/:organization_id/invites/:id': 'organization_member:write',
    'GET /api/organizations/:organization_id/members': 'organization_member:read',
    'PATCH /api/organizations/:organization_id/members/:user__uuid': 'organization_member:write',
    'DELETE /api/organizations/:organization_id/members/:user__uuid': 'organization_member:write',
    'GET /api/personal_api_keys': 'user:read',
    'POST /api/personal_api_keys': 'user:write',
    'GET /api/personal_api_keys/:id': 'user:read',
    'PATCH /api/personal_api_keys/:id': 'user:write',
    'POST /api/personal_api_keys/:id/roll': 'user:write',
    'DELETE /api/personal_api_keys/:id': 'user:write',
    'GET /api/projects/:project_id/events': 'event:read',
    'GET /api/projects/:project_id/persons': 'person:read',
    'GET /api/projects/:project_id/groups': 'group:read',
    'GET /api/projects/:project_id/ingestion_warnings': 'ingestion_warning:read',
    'GET /api/schema': 'public',
  });
});
