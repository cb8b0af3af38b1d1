import { randomUUID } from 'node:crypto';
import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { allScopes, type GrantedScope, type Scope } from '@millrace/contracts';
import type { Route } from '@millrace/http';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { declaredRoutes } from '../testing/declared-routes.ts';
import { insufficient, NF, PD } from '../testing/expected-errors.ts';
import { sessionKey, signInAs, startTestApi, type TestApi } from '../testing/start-test-api.ts';
import type { Caller } from './caller.ts';

/** Every route there is, by whom it may not be called: a new route is covered the moment it is declared. */
const declared = declaredRoutes();
const guarded = declared.filter((route) => route.scope !== 'public');
const named = (routes: Route<Caller>[]) => routes.map((route) => [`${route.method} ${route.path}`, route] as const);

let api: TestApi;
let own: TestTenant;
let foreign: TestTenant;
let memberKey: string;
/** The member and the owner, signed in. */
let memberSession: string;
let ownerSession: string;
/** Of an organization that demands a second factor, and its owner, signed in without one. */
let strict: TestTenant;
let halfSession: string;
/** Keys of the owner, with less than everything. */
const keys = new Map<string, string>();
beforeAll(async () => {
  api = await startTestApi();
  own = await createTestTenant(api.database);
  foreign = await createTestTenant(api.database);
  const { sql } = api.database;
  const member = await createUser(api.database.sql, { email: `member-${own.userId}@example.com` });
  await addMember(api.database.sql, { organizationId: own.organizationId, userId: member.id, level: 1 });
  memberKey = (
    await createPersonalApiKey(api.database.sql, { actor: null, userId: member.id, label: 'k', scopes: ['*'] })
  ).value;
  memberSession = await signInAs(api, member.id);
  ownerSession = await signInAs(api, own.userId);
  strict = await createTestTenant(api.database);
  await sql.query('UPDATE organization SET enforce_2fa = true WHERE id = $1', [strict.organizationId]);
  halfSession = await signInAs(api, strict.userId);
  await makeKey('expired', ['*']);
  await sql.query("UPDATE personal_api_key SET expires_at = now() - interval '1 second' WHERE label = 'expired'");
  for (const object of new Set(guarded.map(objectOf))) {
    await makeKey(
      `all but ${object}`,
      allScopes.filter((scope) => !scope.startsWith(`${object}:`)),
    );
    await makeKey(`${object}:read`, [`${object}:read` as Scope]);
  }
});
afterAll(() => api.stop());

/** Keys of colleagues, each with one key: a user may have ten. They are owners, so only the key can be at fault. */
async function makeKey(label: string, scopes: GrantedScope[]): Promise<void> {
  const user = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
  await addMember(api.database.sql, { organizationId: own.organizationId, userId: user.id, level: 15 });
  keys.set(
    label,
    (await createPersonalApiKey(api.database.sql, { actor: null, userId: user.id, label, scopes })).value,
  );
}

function objectOf(route: Route<Caller>): string {
  return route.scope.split(':')[0] ?? '';
}

/** A real address of a tenant; what is addressed below it by `ids` or does not exist. */
function addressOf(route: Route<Caller>, tenant: TestTenant, ids: Record<string, string> = {}): string {
  const values: Record<string, string> = {
    organization_id: tenant.organizationId,
    project_id: String(tenant.projectId),
    id: isNumbered(route) ? String(tenant.projectId) : randomUUID(),
    ...ids,
  };
  return route.path.replaceAll(/:(\w+)/g, (_match, name: string) => values[name] ?? randomUUID());
}

const isNumbered = ({ path }: Route<Caller>) =>
  /\/(annotations|projects|environments|subscriptions|cohorts|feature_flags|insights|dashboards)\/:id(\/|$)/.test(path);

/** The example of the route, with a key that nothing has yet. Features and event definitions are known by their names. */
function exampleOf({ examples, method, path }: Route<Caller>): unknown {
  const request = (examples.request ?? {}) as { key?: unknown; name?: unknown; stage?: unknown };
  const isKnownByName = typeof request.stage === 'string' || (method === 'POST' && path.endsWith('/event_definitions'));
  if (isKnownByName) return { ...request, name: `Name ${randomUUID()}` };
  return typeof request.key === 'string' ? { ...request, key: `${request.key}-${randomUUID()}` } : request;
}

const send = (route: Route<Caller>, address: string, key?: string) =>
  api.send(route.method, `${address}/`, {
    ...(key !== undefined && { key }),
    ...(route.body !== undefined && { body: exampleOf(route) }),
  });

const invalidKey = {
  status: 401,
  body: {
    type: 'authentication_error',
    code: 'authentication_failed',
    detail: 'Personal API key found in request Authorization header is invalid.',
    attr: null,
  },
};

describe.each(named(guarded))('%s', (_name, route) => {
  test('K1: no key', async () => {
    expect(await send(route, addressOf(route, own))).toMatchObject({
      status: 401,
      body: {
        type: 'authentication_error',
        code: 'not_authenticated',
        detail: 'Authentication credentials were not provided.',
        attr: null,
      },
    });
  });

  test('K6: an unknown key, and one that has expired', async () => {
    expect(await send(route, addressOf(route, own), `phx_${'a'.repeat(48)}`)).toMatchObject(invalidKey);
    expect(await send(route, addressOf(route, own), keys.get('expired'))).toMatchObject(invalidKey);
  });

  test('a cookie of no session', async () => {
    const { status, body } = await send(route, addressOf(route, own), sessionKey('x'.repeat(43)));
    expect([status, body.code, body.detail]).toEqual([
      ...[401, 'not_authenticated', 'Your session has ended. Sign in again.'],
    ]);
  });

  test('S-012: a session from a page of another site', async () => {
    if (route.method === 'GET') return;
    const answer = await api.send(route.method, `${addressOf(route, own)}/`, {
      headers: { cookie: ownerSession, origin: 'https://evil.example' },
    });
    expect(answer).toMatchObject(
      PD(
        "Requests with a session cookie can make changes only from this installation's own pages. Use a personal API key instead.",
      ),
    );
  });

  test('S-024: a session without the second factor that its organization demands', async () => {
    const { status, body } = await send(route, addressOf(route, strict), halfSession);
    if (route.isBeforeSecondFactor) expect(body?.code).not.toBe('two_factor_setup_required');
    else expect([status, body.code]).toEqual([403, 'two_factor_setup_required']);
  });

  test('K15: every scope but the needed one', async () => {
    const answer = await send(route, addressOf(route, own), keys.get(`all but ${objectOf(route)}`));
    expect(answer).toMatchObject(PD(`API key missing required scope '${route.scope}'`));
  });
});

describe.each(named(guarded.filter((route) => route.scope.endsWith(':write'))))('%s', (_name, route) => {
  test('K13: the read scope is not enough', async () => {
    const answer = await send(route, addressOf(route, own), keys.get(`${objectOf(route)}:read`));
    expect(answer).toMatchObject(PD(`API key missing required scope '${route.scope}'`));
  });
});

const belowOrganization = guarded.filter((route) => route.path.startsWith('/api/organizations/:organization_id'));
describe.each(named(belowOrganization))('%s', (_name, route) => {
  test('a foreign organization is refused, and one that does not exist is not found', async () => {
    const nowhere = addressOf(route, { ...own, organizationId: randomUUID() });
    for (const key of [own.personalApiKey, ownerSession]) {
      expect(await send(route, addressOf(route, foreign), key)).toMatchObject(PD());
      expect(await send(route, nowhere, key)).toMatchObject(NF('Organization not found.'));
    }
  });
});

const belowProject = guarded.filter((route) => route.path.includes('/:project_id'));
describe.each(named(belowProject))('%s', (_name, route) => {
  test('a foreign project is not there', async () => {
    // Where existing clients tell a foreign environment (403) from none (cases X12 and S22).
    const tells = ['subscription', 'batch_export'].includes(objectOf(route));
    const nowhere = addressOf(route, { ...own, projectId: 2_000_000_000 });
    for (const key of [own.personalApiKey, ownerSession]) {
      expect(await send(route, addressOf(route, foreign), key)).toMatchObject(
        tells ? PD("You don't have access to the project.") : NF('Project not found.'),
      );
      expect(await send(route, nowhere, key)).toMatchObject(NF('Project not found.'));
    }
  });
});

const leveled = guarded.filter((route) => route.level !== undefined);
describe.each(named(leveled))('%s', (_name, route) => {
  test('a level that is too low', async () => {
    for (const key of [memberKey, memberSession]) {
      expect(await send(route, addressOf(route, own), key)).toMatchObject(insufficient);
    }
  });
});

/** Collections whose records have ids: what a stranger makes there is made with the route's own example. */
const collections = guarded.filter(
  (route) => route.method === 'POST' && declared.some((other) => other.path === `${route.path}/:id`),
);
// Who has a role belongs to a role that has to be made first (`roles.test.ts`).
const withoutMore = collections.filter(({ path }) => path !== '/api/environments' && !path.includes('/:role_id/'));
describe.each(named(withoutMore))('records of %s', (_name, creation) => {
  let foreignId: string;
  beforeAll(async () => {
    // Exports of an organization are made below its projects.
    const isExport = creation.path === '/api/organizations/:organization_id/batch_exports';
    const maker = isExport
      ? declared.find(({ method, path }) => method === 'POST' && path === '/api/projects/:project_id/batch_exports')
      : creation;
    if (!maker) throw new Error('Exports are made nowhere.');
    const created = await send(maker, addressOf(maker, foreign), foreign.personalApiKey);
    expect([created.status, created.body?.detail]).toEqual([201, undefined]);
    foreignId = String(created.body.id);
  });

  const records = guarded.filter(
    ({ path }) => path === `${creation.path}/:id` || path.startsWith(`${creation.path}/:id/`),
  );
  test.each(named(records))('a foreign one is not there for %s', async (_record, route) => {
    const answer = await send(route, addressOf(route, own, { id: foreignId }), own.personalApiKey);
    if (route.successStatus === 405) expect([answer.status, answer.body]).toEqual([405, undefined]);
    else
      expect(answer).toMatchObject(NF(creation.path.endsWith('keys') ? 'Personal API key not found.' : 'Not found.'));
  });

  test('and it is as it was', async () => {
    const read = declared.find(({ method, path }) => method === 'GET' && path === `${creation.path}/:id`);
    if (!read) return;
    const answer = await send(read, addressOf(read, foreign, { id: foreignId }), foreign.personalApiKey);
    expect(answer).toMatchObject({ status: 200, body: { id: isNumbered(read) ? Number(foreignId) : foreignId } });
  });
});
