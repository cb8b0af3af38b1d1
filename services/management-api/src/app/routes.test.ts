import { findRouteProblems, type Route } from '@millrace/http';
import type { Caller } from '../access/caller.ts';
import { declaredPages, declaredRoutes } from '../testing/declared-routes.ts';

/** These tests call no route handler, so they need no running server. */
const declared: Route<Caller>[] = declaredRoutes();

test('every route has a description, one success response with a schema, and valid examples', () => {
  expect(findRouteProblems(declared)).toEqual([]);
});

/**
 * Endpoints and scopes of PostHog's API. PostHog does not document the scopes in rows 8, 28, 29 and 30
 * (docs/api/personal-api-keys.md#scopes).
 */
const contractRows: [number, string, string][] = [
  [1, 'POST /api/organizations/:organization_id/batch_exports/:id/pause', 'batch_export:write'],
  [2, 'POST /api/organizations/:organization_id/batch_exports/:id/unpause', 'batch_export:write'],
  [3, 'GET /api/organizations/:organization_id/domains', 'organization:read'],
  [4, 'POST /api/organizations/:organization_id/domains', 'organization:write'],
  [5, 'GET /api/organizations/:organization_id/domains/:id', 'organization:read'],
  [6, 'PATCH /api/organizations/:organization_id/domains/:id', 'organization:write'],
  [7, 'DELETE /api/organizations/:organization_id/domains/:id', 'organization:write'],
  [8, 'POST /api/organizations/:organization_id/domains/:id/verify', 'organization:write'],
  [9, 'GET /api/organizations/:organization_id/invites', 'organization_member:read'],
  [10, 'POST /api/organizations/:organization_id/invites', 'organization_member:write'],
  [11, 'DELETE /api/organizations/:organization_id/invites/:id', 'organization_member:write'],
  [12, 'POST /api/organizations/:organization_id/invites/bulk', 'organization_member:write'],
  [13, 'GET /api/organizations/:organization_id/members', 'organization_member:read'],
  [14, 'PATCH /api/organizations/:organization_id/members/:user__uuid', 'organization_member:write'],
  [15, 'DELETE /api/organizations/:organization_id/members/:user__uuid', 'organization_member:write'],
  [16, 'GET /api/organizations/:organization_id/projects', 'project:read'],
  [17, 'POST /api/organizations/:organization_id/projects', 'project:write'],
  [18, 'GET /api/organizations/:organization_id/projects/:id', 'project:read'],
  [19, 'POST /api/environments/:project_id/subscriptions', 'subscription:write'],
  [20, 'GET /api/environments/:project_id/subscriptions/:id', 'subscription:read'],
  [21, 'PATCH /api/environments/:project_id/subscriptions/:id', 'subscription:write'],
  [22, 'DELETE /api/environments/:project_id/subscriptions/:id', 'subscription:write'],
  [23, 'GET /api/projects/:project_id/environments', 'project:read'],
  [24, 'POST /api/projects/:project_id/environments', 'project:write'],
  [25, 'GET /api/projects/:project_id/environments/:id', 'project:read'],
  [26, 'PATCH /api/projects/:project_id/environments/:id', 'project:write'],
  [27, 'DELETE /api/projects/:project_id/environments/:id', 'project:write'],
  [28, 'GET /api/projects/:project_id/environments/:id/access_controls', 'project:read'],
  [29, 'GET /api/projects/:project_id/environments/:id/activity', 'project:read'],
  [30, 'PATCH /api/projects/:project_id/environments/:id/add_product_intent', 'project:write'],
];

test.each(contractRows)('row %i of the API contract: serves %s with the scope %s', (_row, endpoint, scope) => {
  const found = declared.filter((route) => `${route.method} ${route.path}` === endpoint);
  expect(found.map((route) => route.scope)).toEqual([scope]);
});

test('only the listed routes and pages work without credentials', () => {
  const open = declared.filter((route) => route.scope === 'public');
  expect(open.map((route) => `${route.method} ${route.path}`)).toEqual([
    'POST /api/signup/:id/look',
    'POST /api/signup/:id',
    'POST /api/login/precheck',
    'POST /api/login',
    'POST /api/logout',
    'POST /api/console_link/look',
    'POST /api/console_link',
    'GET /api/login/2fa/methods',
    'POST /api/login/2fa/passkey/begin',
    'POST /api/login/token',
    'POST /api/webauthn/login/begin',
    'POST /api/webauthn/login/complete',
    'POST /api/reset',
    'POST /api/reset/:user_uuid/look',
    'POST /api/reset/:user_uuid',
    // These requests need a ticket that cannot be guessed.
    'POST /api/login/sso/look',
    'POST /api/login/sso',
    // These requests need an ID that cannot be guessed.
    'GET /api/report_pictures/:report_id/:at',
    'GET /api/unsubscribe/:unsubscribe_id',
    'POST /api/unsubscribe/:unsubscribe_id',
    // These requests need the token of a public link.
    'GET /api/shared/:access_token',
    'GET /api/shared/:access_token/tiles/:at',
    // These requests need a `live_events_token`.
    'GET /events',
    'GET /stats',
    'GET /api/schema',
  ]);
  expect(declaredPages().map(({ methods, path }) => `${methods} ${path}`)).toEqual([
    'GET,HEAD /_liveness',
    'GET,HEAD /_readiness',
    'GET,HEAD /metrics',
    'GET,HEAD /api/docs',
    'GET,HEAD /',
    'GET,HEAD /console/*',
    // These requests need the token of a public link.
    'GET,HEAD /shared/:access_token',
    'GET,HEAD /embedded/:access_token',
    'GET /login/:provider',
    'GET /complete/:provider',
    'GET /complete/:provider/:domain_id',
    'POST /complete/saml',
    'GET /complete/saml',
    'GET /api/saml/metadata',
    // SCIM and the gateway check their own credentials.
    'any /scim/*',
    'GET,HEAD /flags/definitions',
    'GET,HEAD /api/feature_flag/local_evaluation',
    'GET,HEAD /api/projects/:project_id/feature_flags/local_evaluation',
    'GET,HEAD /api/projects/:project_id/feature_flags/:id/remote_config',
    'GET,HEAD /api/environments/:project_id/feature_flags/local_evaluation',
    'GET,HEAD /api/environments/:project_id/feature_flags/:id/remote_config',
  ]);
});

test('signin-041: the listed routes require a session with a recent sign-in', () => {
  const bases = ['/projects', '/environments', '/organizations/:organization_id/projects'];
  const items = [...bases, '/projects/:project_id/environments'].map((base) => `${base}/:id`);
  const organization = '/organizations/:organization_id';
  const expected = [
    ...['POST', 'PATCH /:id', 'DELETE /:id', 'POST /:id/roll'].map((end) => [end, '/personal_api_keys']),
    ...['PATCH', 'PUT', 'DELETE'].map((end) => [end, `${organization}/members/:user__uuid`]),
    ...['POST', 'POST /bulk', 'DELETE /:id'].map((end) => [end, `${organization}/invites`]),
    ...['POST', 'PATCH /:id', 'PUT /:id', 'DELETE /:id', 'POST /:id/verify', 'PATCH /:id/sign_on'].map((end) => [
      end,
      `${organization}/domains`,
    ]),
    ...['POST', 'POST /regenerate', 'POST /disable'].map((end) => [end, `${organization}/domains/:id/scim`]),
    ['DELETE /:email', `${organization}/kept_out`],
    ...['POST', 'PATCH /:id', 'PUT /:id', 'DELETE /:id'].map((end) => [end, `${organization}/roles`]),
    ...['POST', 'DELETE /:id'].map((end) => [end, `${organization}/roles/:role_id/role_memberships`]),
    ...['PATCH', 'PUT', 'DELETE'].map((end) => [end, organization]),
    ...items.flatMap((item) =>
      ['DELETE', 'PATCH /reset_token', 'PATCH /rotate_secret_token', 'PATCH /delete_secret_token_backup'].map((end) => [
        ...[end, item],
      ]),
    ),
    ...['DELETE /:id', 'POST /revoke_others'].map((end) => [end, '/users/@me/login_sessions']),
    ['DELETE', '/users/@me'],
    ...['GET /two_factor_start_setup', 'POST /two_factor_validate', 'POST /two_factor_backup_codes'].map((end) => [
      ...[end, '/users/@me'],
    ]),
    ...['POST /users/@me/two_factor_disable', 'POST /webauthn/register/begin', 'POST /webauthn/register/complete'].map(
      (end) => [end, ''],
    ),
    ...['PATCH /:id', 'DELETE /:id'].map((end) => [end, '/webauthn/credentials']),
  ].map(([end = '', base = '']) => end.replace(/^(\w+) ?/, `$1 /api${base}`));
  const sensitive = declared.filter((route) => route.isSensitive).map((route) => `${route.method} ${route.path}`);
  expect(sensitive.sort()).toEqual(expected.sort());
});

/** GET requests that write. PostHog's clients use GET for these actions. */
const writesByReading = /\/(duplicate_as_static_cohort|two_factor_start_setup)$/;

/**
 * POST requests that only read. They use POST because a query can be too long for a URL, or because they record a view.
 */
const readsByPost =
  /\/(query(\/(check_auth_for_async|upgrade|:query_id))?|feature_flags\/(bulk_keys|user_blast_radius)|insights\/((:id\/)?viewed|cancel))$/;

test('routes that write require a write scope, and routes that read require a read scope', () => {
  for (const { method, path, scope } of declared) {
    if (scope === 'public') continue;
    const reads = method === 'GET' ? !writesByReading.test(path) : readsByPost.test(path);
    expect([method, path, scope.endsWith(':read')]).toEqual([method, path, reads]);
  }
});
