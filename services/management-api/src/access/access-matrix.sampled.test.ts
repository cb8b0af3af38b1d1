import { randomUUID } from 'node:crypto';
import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { allScopes, type GrantedScope, type Scope } from '@millrace/contracts';
import type { Route } from '@millrace/http';
import {
  createTestOrganization,
  createTestProject,
  createTestTenant,
  sampleOf,
  type TestTenant,
} from '@millrace/testing';
import { declaredRoutes } from '../testing/declared-routes.ts';
import { insufficient, notFound, permissionDenied } from '../testing/expected-errors.ts';
import { sessionKey, signInAs, startTestApi, type TestApi, type TestResponse } from '../testing/start-test-api.ts';
import type { Caller } from './caller.ts';

/**
 * Calls every declared route with every kind of credential and path that must be rejected, and every list route with
 * those that must be accepted. New routes are covered automatically. `reach-matrix` checks that responses do not reveal
 * data of other tenants. If several paths must be rejected for the same reason, `npm test` calls each route with only
 * one of them, and alternates between them from route to route.
 */
const declared = declaredRoutes();
const guarded = declared.filter((route) => route.scope !== 'public');
const named = (routes: Route<Caller>[]) => routes.map((route) => [`${route.method} ${route.path}`, route] as const);

interface Place {
  organizationId: string;
  projectId: number | string;
}

let api: TestApi;
let own: TestTenant;
let foreign: TestTenant;
/**
 * Credentials by name. API keys belong to owners, so that a request can be rejected only because of its key's limits.
 */
const keys = new Map<string, string>();

beforeAll(async () => {
  api = await startTestApi();
  const { sql } = api.database;
  own = await createTestTenant(api.database);
  foreign = await createTestTenant(api.database);
  const { project } = await createTestProject(api.database, { organizationId: own.organizationId, name: 'Second' });
  const second = await createTestOrganization(api.database, { name: 'Second' });
  await createTestProject(api.database, { organizationId: second.id, name: 'Other' });
  await addMember(sql, { organizationId: second.id, userId: own.userId, level: 1 });
  keys.set('everything', own.personalApiKey);
  keys.set('owner session', await signInAs(api, own.userId));
  const member = await createUser(sql, { email: `member-${own.userId}@example.com` });
  await addMember(sql, { organizationId: own.organizationId, userId: member.id, level: 1 });
  await createKey('member', { userId: member.id });
  keys.set('member session', await signInAs(api, member.id));
  await createKey('own project', { userId: own.userId, scopedEnvironments: [own.environmentId] });
  await createKey('second project', { userId: own.userId, scopedEnvironments: [project.id] });
  await createKey('own organization', { userId: own.userId, scopedOrganizations: [own.organizationId] });
  await createKey('second organization', { userId: own.userId, scopedOrganizations: [second.id] });

  const strict = await createTestTenant(api.database);
  await sql.query('UPDATE organization SET enforce_2fa = true WHERE id = $1', [strict.organizationId]);
  keys.set('session without second factor', await signInAs(api, strict.userId));
  places.set('strict', strict);
  const leaver = await createTestTenant(api.database);
  await sql.query('DELETE FROM membership WHERE user_id = $1', [leaver.userId]);
  keys.set('former member', leaver.personalApiKey);
  places.set('left', leaver);

  await createKey('expired', {});
  await sql.query("UPDATE personal_api_key SET expires_at = now() - interval '1 second' WHERE label = 'expired'");
  for (const object of new Set(guarded.map(objectOf))) {
    await createKey(`all but ${object}`, { scopes: allScopes.filter((scope) => !scope.startsWith(`${object}:`)) });
    await createKey(`${object}:read`, { scopes: [`${object}:read` as Scope] });
    await createKey(`${object}:write`, { scopes: [`${object}:write` as Scope] });
  }
});
afterAll(() => api.stop());
const places = new Map<string, Place>();

/**
 * Creates a key. Without a `userId`, creates a new owner of the organization for it, because a user can have at most
 * ten keys.
 */
async function createKey(
  label: string,
  options: { userId?: number; scopes?: GrantedScope[]; scopedEnvironments?: number[]; scopedOrganizations?: string[] },
): Promise<void> {
  const { sql } = api.database;
  const userId = options.userId ?? (await createUser(sql, { email: `${randomUUID()}@example.com` })).id;
  if (options.userId === undefined) await addMember(sql, { organizationId: own.organizationId, userId, level: 15 });
  keys.set(label, (await createPersonalApiKey(sql, { actor: null, label, scopes: ['*'], ...options, userId })).value);
}

const objectOf = (route: Route<Caller>) => route.scope.split(':')[0] ?? '';

/**
 * Returns the route's path for an organization and a project. IDs that are missing in `ids` are random, so their
 * records do not exist.
 */
function addressOf(route: Route<Caller>, place: Place, ids: Record<string, string> = {}): string {
  const values: Record<string, string> = {
    organization_id: place.organizationId,
    project_id: String(place.projectId),
    id: isNumbered(route)
      ? String(typeof place.projectId === 'number' ? place.projectId : own.projectId)
      : randomUUID(),
    ...ids,
  };
  return route.path.replaceAll(/:(\w+)/g, (_match, name: string) => encodeURIComponent(values[name] ?? randomUUID()));
}

const isNumbered = ({ path }: Route<Caller>) =>
  /\/(annotations|projects|environments|subscriptions|cohorts|feature_flags|insights|dashboards)\/:id(\/|$)/.test(path);

/**
 * Returns the route's example request with a new flag key. Features, event definitions and variables get a new name,
 * because they are identified by name.
 */
function exampleOf({ examples, method, path }: Route<Caller>): unknown {
  const request = (examples.request ?? {}) as { key?: unknown; name?: unknown; stage?: unknown };
  const isKnownByName =
    typeof request.stage === 'string' || (method === 'POST' && /\/(event_definitions|insight_variables)$/.test(path));
  if (isKnownByName) return { ...request, name: `Name ${randomUUID()}` };
  return typeof request.key === 'string' ? { ...request, key: `${request.key}-${randomUUID()}` } : request;
}

const send = (route: Route<Caller>, address: string, key?: string) =>
  api.send(route.method, `${address}/`, {
    ...(key !== undefined && { key }),
    ...(route.body !== undefined && { body: exampleOf(route) }),
  });

interface Rejection {
  rule: string;
  isChecked(route: Route<Caller>): boolean;
  /** Returns the names of the credentials to try, from `keys`. Undefined stands for a request without credentials. */
  credentials: (route: Route<Caller>) => (string | undefined)[];
  places?: () => Place[];
  expected(route: Route<Caller>): object;
}

const isBelowProject = (route: Route<Caller>) => route.path.includes('/:project_id');
const isBelowOrganization = (route: Route<Caller>) => route.path.startsWith('/api/organizations/:organization_id');
/**
 * Returns true if a route's existing clients distinguish another organization's environment (403) from a missing one
 * (404). See cases X12 and S22.
 */
const isForeignVisible = (route: Route<Caller>) => ['subscription', 'batch_export'].includes(objectOf(route));
const authenticationError = (code: string, detail: string) => ({
  status: 401,
  body: { type: 'authentication_error', code, detail, attr: null },
});
const always = () => true;
const scopeMissing = (route: Route<Caller>) => permissionDenied(`API key missing required scope '${route.scope}'`);
const broad = ['everything', 'owner session'];

const rejections: Rejection[] = [
  {
    rule: 'key-001: no credentials',
    isChecked: always,
    credentials: () => [undefined],
    expected: () => authenticationError('not_authenticated', 'Authentication credentials were not provided.'),
  },
  {
    rule: 'key-006: an unknown key or an expired key',
    isChecked: always,
    credentials: () => ['unknown', 'expired'],
    expected: () =>
      authenticationError(
        'authentication_failed',
        'Personal API key found in request Authorization header is invalid.',
      ),
  },
  {
    rule: 'the cookie of a session that has ended',
    isChecked: always,
    credentials: () => ['ended session'],
    expected: () => authenticationError('not_authenticated', 'Your session has ended. Sign in again.'),
  },
  {
    rule: 'key-015: a key with every scope except the required one',
    isChecked: always,
    credentials: (route) => [`all but ${objectOf(route)}`],
    expected: scopeMissing,
  },
  {
    rule: 'key-013: a key with the read scope for a route that writes',
    isChecked: (route) => route.scope.endsWith(':write'),
    credentials: (route) => [`${objectOf(route)}:read`],
    expected: scopeMissing,
  },
  {
    rule: 'a membership level that is too low',
    isChecked: (route) => route.level !== undefined,
    credentials: () => ['member', 'member session'],
    expected: () => insufficient,
  },
  {
    rule: 'an organization of other users',
    isChecked: isBelowOrganization,
    credentials: () => broad,
    places: () => [foreign],
    expected: () => permissionDenied(),
  },
  {
    rule: 'an organization that does not exist',
    isChecked: isBelowOrganization,
    credentials: () => broad,
    places: () => [randomUUID(), 'not-a-uuid', '1', "'; --"].map((organizationId) => ({ ...own, organizationId })),
    expected: () => notFound('Organization not found.'),
  },
  {
    rule: 'key-018: a key for another organization of the user, below an organization',
    isChecked: isBelowOrganization,
    credentials: () => ['second organization'],
    expected: () =>
      permissionDenied(`API key does not have access to the requested organization: ID ${own.organizationId}.`),
  },
  {
    rule: 'a project of other users',
    isChecked: isBelowProject,
    credentials: () => broad,
    places: () => [foreign],
    expected: (route) =>
      isForeignVisible(route)
        ? permissionDenied("You don't have access to the project.")
        : notFound('Project not found.'),
  },
  {
    rule: 'a project that does not exist',
    isChecked: isBelowProject,
    credentials: () => broad,
    places: () =>
      [2_000_000_000, 'abc', '0', '-1', '1.5', '9999999999', '2147483648', "1' OR '1'='1"].map((projectId) => ({
        ...own,
        projectId,
      })),
    expected: () => notFound('Project not found.'),
  },
  {
    rule: 'key-018: a key for another project or organization of the user, below a project',
    isChecked: isBelowProject,
    credentials: () => ['second project', 'second organization'],
    expected: () => permissionDenied(`API key does not have access to the requested project: ID ${own.projectId}.`),
  },
  {
    rule: 'a project of an organization that the user has left',
    isChecked: isBelowProject,
    credentials: () => ['former member'],
    places: () => [placeOf('left')],
    expected: (route) =>
      isForeignVisible(route)
        ? permissionDenied("You don't have access to the project.")
        : notFound('Project not found.'),
  },
];

function placeOf(name: string): Place {
  const place = places.get(name);
  if (!place) throw new Error(`No place is called ${name}.`);
  return place;
}

function keyOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  if (name === 'unknown') return `phx_${'a'.repeat(48)}`;
  if (name === 'ended session') return sessionKey('x'.repeat(43));
  const key = keys.get(name);
  if (key === undefined) throw new Error(`No key is called ${name}.`);
  return key;
}

describe.each(rejections)('rejects $rule', ({ isChecked, credentials, places: placesOf = () => [own], expected }) => {
  test.each(named(guarded.filter(isChecked)))('%s', async (_name, route) => {
    const responses: TestResponse[] = [];
    for (const place of sampleOf(placesOf(), { count: 1, turn: guarded.indexOf(route) })) {
      for (const name of credentials(route)) responses.push(await send(route, addressOf(route, place), keyOf(name)));
    }
    expect(responses).toMatchObject(responses.map(() => expected(route)));
  });
});

describe('requests with a session', () => {
  const changing = guarded.filter(({ method }) => method !== 'GET');
  test.each(named(changing))("signin-012: rejects a request from another site's page: %s", async (_name, route) => {
    const response = await api.send(route.method, `${addressOf(route, own)}/`, {
      headers: { cookie: keyOf('owner session') ?? '', origin: 'https://evil.example' },
    });
    expect(response).toMatchObject(
      permissionDenied(
        "Requests with a session cookie can make changes only from this installation's own pages. Use a personal API key instead.",
      ),
    );
  });

  test.each(named(guarded))(
    'signin-024: rejects a session without the second factor that the organization requires: %s',
    async (_name, route) => {
      const address = addressOf(route, placeOf('strict'));
      const { status, body } = await send(route, address, keyOf('session without second factor'));
      if (route.isBeforeSecondFactor) expect(body?.code).not.toBe('two_factor_setup_required');
      else expect([status, body.code]).toEqual([403, 'two_factor_setup_required']);
    },
  );
});

/** List routes without required parameters. Below the organization or project, their paths have no parameters. */
const lists = guarded.filter(
  ({ method, path, query }) =>
    method === 'GET' &&
    !/:(?!project_id|organization_id)|\/live\/|@me|webauthn|groups\/|event_definitions\/by_name|values$|persons\/cohorts|evaluation_reasons|preview$/.test(
      path,
    ) &&
    (query.required ?? []).every((name) => Object.hasOwn(query.properties[name] ?? {}, 'default')),
);

describe.each(named(lists))('%s', (_name, route) => {
  const statusesOf = (place: Place, names: string[]) =>
    Promise.all(names.map(async (name) => [name, (await send(route, addressOf(route, place), keyOf(name))).status]));

  test('key-012, key-014, key-016, key-020: accepts a key with only the required scope or project, and `@current`', async () => {
    const object = objectOf(route);
    const names = [`${object}:read`, `${object}:write`];
    if (isBelowProject(route)) names.push('own project');
    if (isBelowOrganization(route)) names.push('own organization');
    const isOk = (names_: string[]) => names_.map((name) => [name, 200]);
    expect(await statusesOf(own, names)).toEqual(isOk(names));
    const current = isBelowProject(route) ? ['everything', 'own project'] : ['everything'];
    expect(await statusesOf({ organizationId: '@current', projectId: '@current' }, current)).toEqual(isOk(current));
    const upper = { ...own, organizationId: own.organizationId.toUpperCase() };
    expect(await statusesOf(upper, ['everything'])).toEqual(isOk(['everything']));
  });

  test('G12: for an unsupported method, returns 401 without a key, and 405 with `Allow` with a key', async () => {
    const url = `${api.url}${addressOf(route, own)}`;
    expect((await fetch(url, { method: 'PROPFIND' })).status).toBe(401);
    const headers = { authorization: `Bearer ${own.personalApiKey}` };
    const response = await fetch(`${url}/`, { method: 'PROPFIND', headers });
    const methods = declared.filter(({ path }) => path === route.path).map(({ method }) => method);
    expect([response.status, response.headers.get('allow')?.split(', ').sort()]).toEqual([
      405,
      [...methods, 'HEAD', 'OPTIONS'].sort(),
    ]);
    expect(await response.json()).toEqual({
      ...{ type: 'invalid_request', code: 'method_not_allowed', attr: null },
      detail: 'Method "PROPFIND" not allowed.',
    });
  });
});

describe('keys that are limited to projects or organizations', () => {
  /** `/api/feature_flag` finds the project by a project token. Without a token, it uses the current project. */
  const isOfProject = (path: string) => path.includes('/:project_id') || path === '/api/feature_flag';
  // Users and personal API keys have their own access rules (`personal-key-access.test.ts`).
  const others = lists.filter(({ path }) => !isOfProject(path) && !/^\/api\/(users|personal_api_keys)/.test(path));
  test.each(named(others))('key-021, key-022: %s rejects a key that is limited to projects', async (_name, route) => {
    const detail = 'API keys with scoped projects are only supported on project-based endpoints.';
    expect(await send(route, addressOf(route, own), keyOf('own project'))).toMatchObject(permissionDenied(detail));
  });

  test('key-023: /api/users/@me/ accepts both kinds of limited keys', async () => {
    for (const name of ['own project', 'own organization']) {
      const { status, body } = await api.get('/api/users/@me/', keyOf(name));
      expect([status, body.team.id, body.organization.id]).toEqual([200, own.projectId, own.organizationId]);
    }
  });

  test('key-019, key-024: lists contain only records that the key can access', async () => {
    const key = keyOf('second organization');
    const organizations = (await api.get('/api/organizations/', key)).body;
    const projects = (await api.get('/api/projects/', key)).body;
    const me = (await api.get('/api/users/@me/', key)).body;
    for (const seen of [organizations, projects, me]) {
      expect(JSON.stringify(seen)).not.toContain(own.organizationId);
      expect(JSON.stringify(seen)).not.toContain(foreign.organizationId);
    }
    expect([organizations.count, projects.count, me.organizations.length]).toEqual([1, 1, 1]);
  });
});

test('a member who leaves the organization loses access with the next request', async () => {
  const leaver = await createTestTenant(api.database);
  const read = () => api.get(`/api/projects/${leaver.projectId}/feature_flags/`, leaver.personalApiKey);
  expect((await read()).status).toBe(200);
  await api.database.sql.query('DELETE FROM membership WHERE user_id = $1', [leaver.userId]);
  expect(await read()).toMatchObject(notFound('Project not found.'));
});

/** Collections whose records have IDs. The test creates a record of the other organization in each of them. */
const collections = guarded.filter(
  (route) => route.method === 'POST' && declared.some((other) => other.path === `${route.path}/:id`),
);
// Role memberships cannot be created without a role, so `roles.test.ts` covers them.
const creatable = collections.filter(({ path }) => path !== '/api/environments' && !path.includes('/:role_id/'));
describe.each(named(creatable))('API access to records of %s', (_name, creation) => {
  let foreignId: string;
  beforeAll(async () => {
    // Exports of an organization are created in its projects.
    const isExport = creation.path === '/api/organizations/:organization_id/batch_exports';
    const maker = isExport
      ? declared.find(({ method, path }) => method === 'POST' && path === '/api/projects/:project_id/batch_exports')
      : creation;
    if (!maker) throw new Error('No route creates batch exports.');
    const created = await send(maker, addressOf(maker, foreign), foreign.personalApiKey);
    expect([created.status, created.body?.detail]).toEqual([201, undefined]);
    foreignId = String(created.body.id);
  });

  const records = guarded.filter(
    ({ path }) => path === `${creation.path}/:id` || path.startsWith(`${creation.path}/:id/`),
  );
  test.each(named(records))('another organization cannot read the record: %s', async (_record, route) => {
    const response = await send(route, addressOf(route, own, { id: foreignId }), own.personalApiKey);
    if (route.successStatus === 405) expect([response.status, response.body]).toEqual([405, undefined]);
    else
      expect(response).toMatchObject(
        notFound(creation.path.endsWith('keys') ? 'Personal API key not found.' : 'Not found.'),
      );
  });

  test('requests from another organization leave the records unchanged', async () => {
    const read = declared.find(({ method, path }) => method === 'GET' && path === `${creation.path}/:id`);
    if (!read) return;
    const response = await send(read, addressOf(read, foreign, { id: foreignId }), foreign.personalApiKey);
    expect(response).toMatchObject({ status: 200, body: { id: isNumbered(read) ? Number(foreignId) : foreignId } });
  });
});
