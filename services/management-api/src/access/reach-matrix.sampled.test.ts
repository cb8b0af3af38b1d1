import type { Route } from '@millrace/http';
import { sampleOf } from '@millrace/testing';
import { declaredRoutes } from '../testing/declared-routes.ts';
import {
  type Actor,
  type Address,
  actorNames,
  createReachFixture,
  type ReachFixture,
} from '../testing/reach-fixture.ts';
import { startTestApi, type TestApi, type TestResponse } from '../testing/start-test-api.ts';
import type { Caller } from './caller.ts';

/**
 * Calls every route as every actor. Neither the body nor a header of the response may contain anything from an
 * organization or environment that the actor's key cannot access, except for what the request itself contains. `npm
 * test` uses one of the possible paths per actor and route, and alternates between them. `npm run test:long` uses all
 * paths.
 */
const guarded = declaredRoutes().filter((route) => route.scope !== 'public');
const named = (routes: Route<Caller>[]) => routes.map((route) => [`${route.method} ${route.path}`, route] as const);

let api: TestApi;
let fixture: ReachFixture;
beforeAll(async () => {
  api = await startTestApi();
  fixture = await createReachFixture(api);
});
afterAll(() => api.stop());

function actorOf(name: string): Actor {
  const actor = fixture.actors.get(name);
  if (!actor) throw new Error(`There is no actor ${name}.`);
  return actor;
}

/** Paths are of three kinds: with IDs, with `@current`, and with record IDs of another organization. */
const addressesFor = (name: string, routes: Route<Caller>[], route: Route<Caller>) => {
  const kinds = fixture.addressKinds;
  const turn = actorNames.indexOf(name as (typeof actorNames)[number]) + routes.indexOf(route);
  return sampleOf(kinds, { count: 1, turn }).flatMap((kind) =>
    sampleOf(kind, { count: 1, turn: Math.floor(turn / kinds.length) }),
  );
};

function pathAt(route: Route<Caller>, address: Address): string {
  return route.path.replaceAll(/([\w-]+)\/:(\w+)/g, (_match, collection: string, parameter: string) => {
    const value =
      parameter === 'organization_id'
        ? address.organization
        : collection === 'environments'
          ? address.environment
          : collection === 'projects'
            ? parameter === 'project_id' && !route.path.includes('/environments/:id')
              ? address.environment
              : address.project
            : address.records[collection];
    return `${collection}/${encodeURIComponent(value ?? '0193f0c5-7a4e-4000-8000-000000000000')}`;
  });
}

function bodyAt(route: Route<Caller>, address: Address): unknown {
  const example = route.examples.request ?? {};
  if (Array.isArray(example)) return example;
  const grants = [{ id: address.environment, level: 1 }];
  const named: Record<string, unknown> = {
    set_current_team: address.environment,
    set_current_organization: address.organization,
    scoped_teams: [address.environment],
    scoped_organizations: [address.organization],
    organization_member: address.membershipId,
    private_project_access: grants,
    from_project: address.environment,
    target_project_ids: [address.environment],
    use_dashboard: Number(address.records.dashboards),
    insight: Number(address.records.insights),
    dashboard: Number(address.records.dashboards),
    dashboards: [Number(address.records.dashboards)],
    toDashboard: Number(address.records.dashboards),
    fromDashboardId: Number(address.records.dashboards),
    insight_ids: [Number(address.records.insights)],
    ids: [route.path.includes('/feature_flags/') ? address.records.feature_flags : address.records.persons],
  };
  const known = Object.keys((route.body as { properties?: object } | undefined)?.properties ?? {});
  return {
    ...(example as object),
    ...Object.fromEntries(known.flatMap((name) => (name in named ? [[name, named[name]]] : []))),
  };
}

function leaks(response: TestResponse, { hidden }: Actor, request: string): string[] {
  const text = `${JSON.stringify(response.body ?? null)} ${JSON.stringify([...response.headers])}`;
  const tokens = [...text.matchAll(/eyJ[\w-]+\.([\w-]+)\./g)].map(([, claims = '']) =>
    Buffer.from(claims, 'base64url'),
  );
  const requested = marksIn(request, hidden);
  return [...marksIn(`${text} ${tokens.join(' ')}`, hidden)].filter((mark) => !requested.has(mark));
}

const patterns = new Map<string[], RegExp>();

function marksIn(text: string, marks: string[]): Set<string> {
  const pattern = patterns.get(marks) ?? new RegExp(`(?<![0-9A-Za-z])(?:${marks.join('|')})(?![0-9A-Za-z])`, 'g');
  patterns.set(marks, pattern);
  return new Set(text.match(pattern));
}

async function ask(route: Route<Caller>, actor: Actor, address: Address) {
  const path = pathAt(route, address);
  const body = route.body === undefined ? undefined : bodyAt(route, address);
  const response = await api.send(route.method, `${path}/`, {
    key: actor.key,
    ...(body !== undefined && { body }),
    headers: { prefer: 'return=representation' },
  });
  return { path, response, found: leaks(response, actor, `${path} ${JSON.stringify(body ?? null)}`) };
}

const reads = guarded.filter(({ method }) => method === 'GET');
describe.each(actorNames)('%s gets no data that it cannot access', (name) => {
  test.each(named(reads))('%s', async (_name, route) => {
    const actor = actorOf(name);
    const addresses = addressesFor(name, reads, route);
    const all = await Promise.all(addresses.map((address) => ask(route, actor, address)));
    const leaking = all.filter(({ found }) => found.length > 0);
    expect(leaking.map(({ path, response, found }) => [path, response.status, found])).toEqual([]);
  });
});

/** Returns true if a request would delete something or replace a secret that later tests need. */
const isLasting = ({ method, path }: Route<Caller>) =>
  method === 'DELETE' ||
  /\/(reset_token|rotate_secret_token|delete_secret_token_backup|roll|accept|bulk_delete)$/.test(path);

function isOut(route: Route<Caller>, actor: Actor, address: Address): boolean {
  if (
    address.isForeignRecord &&
    /(annotations|insight_variables|event_definitions|property_definitions|subscriptions|batch_exports|feature_flags|cohorts|insights|dashboards|early_access_feature|domains|invites|members)\/:/.test(
      route.path,
    )
  )
    return true;
  const path = pathAt(route, address);
  const [, environment] = /.*\/(?:projects|environments)\/(\d+)/.exec(path) ?? [];
  if (environment !== undefined) return !actor.environments.includes(Number(environment));
  const [, organization] = /\/organizations\/([\da-f-]{36})/.exec(path) ?? [];
  return organization !== undefined && !actor.organizations.includes(organization);
}

/** Returns the stored rows of the organizations and environments that an actor cannot access, by table. */
async function beyond({ organizations, environments }: Actor) {
  const { sql } = api.database;
  const hidden = {
    environments: fixture.environments.filter((id) => !environments.includes(id)),
    organizations: fixture.organizations.filter((id) => !organizations.includes(id)),
  };
  const read = (table: string, column: string, ids: unknown[]) =>
    sql.query(
      `SELECT '${table}' AS table, count(*), md5(string_agg(t::text, ' ' ORDER BY t::text)) AS rows
         FROM "${table}" t WHERE t.${column} = ANY ($1)`,
      [ids],
    );
  const ofEnvironments = [
    ['environment', 'id'],
    ['annotation', 'environment_id'],
    ['insight_variable', 'environment_id'],
    ['sharing_configuration', 'environment_id'],
    ['event_definition', 'project_id'],
    ['property_definition', 'project_id'],
    ['group_type_mapping', 'project_id'],
    ['subscription', 'environment_id'],
    ['batch_export', 'environment_id'],
    ['feature_flag', 'project_id'],
    ['cohort', 'project_id'],
    ['cohort_member', 'project_id'],
    ['insight', 'project_id'],
    ['dashboard', 'project_id'],
    ['early_access_feature', 'project_id'],
    ['person', 'project_id'],
    ['event', 'project_id'],
    ['group', 'project_id'],
  ] as const;
  const ofOrganizations = [
    ['organization', 'id'],
    ['membership', 'organization_id'],
    ['organization_invite', 'organization_id'],
    ['organization_domain', 'organization_id'],
  ] as const;
  return Promise.all([
    ...ofEnvironments.map(([table, column]) => read(table, column, hidden.environments)),
    ...ofOrganizations.map(([table, column]) => read(table, column, hidden.organizations)),
  ]);
}

const writes = guarded.filter(({ method }) => method !== 'GET');
describe.each(actorNames)('%s cannot change data that it cannot access', (name) => {
  const currentOf = (userId: number) =>
    api.database.sql.query('SELECT current_organization_id, current_environment_id FROM "user" WHERE id = $1', [
      userId,
    ]);

  let before: unknown;
  beforeAll(async () => {
    before = await beyond(actorOf(name));
  });

  test.each(named(writes))('%s', async (_name, route) => {
    const leaking: unknown[] = [];
    const actor = actorOf(name);
    const current = await currentOf(actor.userId);
    for (const address of addressesFor(name, writes, route)) {
      const mayReach = !isOut(route, actor, address) || route.successStatus === 405;
      if (mayReach && isLasting(route)) continue;
      const { path, response, found } = await ask(route, actor, address);
      if (found.length > 0) leaking.push([path, response.status, found]);
      if (!mayReach && response.status < 400) leaking.push([path, response.status, 'was not refused']);
    }
    if (actor.isLimited) expect(await currentOf(actor.userId)).toEqual(current);
    expect(leaking).toEqual([]);
  });

  test('requests do not change data that the actor cannot access', async () => {
    expect(await beyond(actorOf(name))).toEqual(before);
  });
});
