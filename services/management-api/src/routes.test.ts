import { type Route, routeProblems } from '@millrace/http';
import type { Caller } from './access/caller.ts';
import { routes } from './routes.ts';

/** Declarations only: no handler is called. */
const declared: Route<Caller>[] = routes({ sql: { query: async () => [] } });

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
    'GET /api/projects/:project_id/events': 'event:read',
    'GET /api/projects/:project_id/persons': 'person:read',
    'GET /api/projects/:project_id/groups': 'group:read',
    'GET /api/projects/:project_id/ingestion_warnings': 'ingestion_warning:read',
    'GET /api/schema': 'public',
  });
});
