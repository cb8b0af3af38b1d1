import { randomUUID } from 'node:crypto';
import type { Route } from '@millrace/http';
import { declaredRoutes } from '../testing/declared-routes.ts';
import { markedOrganization, markedPerson, markedProject, raiseIdSequences } from '../testing/marked-records.ts';
import { signInAs, startTestApi, type TestApi } from '../testing/start-test-api.ts';
import type { Caller } from './caller.ts';

/**
 * Tests that a record has only one URL. Calls every route with variants of each ID in its path, such as leading zeros.
 * No variant may find the record (docs/api/README.md#paths-and-ids). New routes are covered automatically.
 */
const spellings: [string, (id: string) => string][] = [
  ['0<id>', (id) => `0${id}`],
  ['+<id>', (id) => `+${id}`],
  ['<id>.0', (id) => `${id}.0`],
  ['" <id>"', (id) => ` ${id}`],
  ['full-width digits', (id) => id.replaceAll(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0))],
];

/** Path parameters that are names chosen by clients. A variant of such a name is a different name. */
const names = new Set(['key', 'query_id', 'email']);
const parametersOf = ({ path }: Route<Caller>) =>
  [...path.matchAll(/([\w-]+)\/:(\w+)/g)].map(([, collection = '', parameter = '']) => ({ collection, parameter }));
const idsOf = (route: Route<Caller>) => parametersOf(route).filter(({ parameter }) => !names.has(parameter));
const addressed = declaredRoutes().filter((route) => idsOf(route).length > 0);

let api: TestApi;
let session: string;
/** Record IDs by collection. The collection is the path segment before the ID. */
let ids: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi();
  await raiseIdSequences(api);
  const owner = await markedPerson(api, 'wordowner');
  const organization = await markedOrganization(api, 'wordorganization', owner);
  const { first } = await markedProject(api, owner, { organization, words: ['wordproject', 'wordfirst'] });
  session = await signInAs(api, owner.userId);
  const send = (method: 'GET' | 'POST', path: string, body?: object) => api.send(method, path, { key: session, body });
  const roles = `/api/organizations/${organization.id}/roles/`;
  const role = (await send('POST', roles, { name: 'Role' })).body.id;
  const held = await send('POST', `${roles}${role}/role_memberships/`, { user_uuid: organization.records.members });
  const annotations = `/api/projects/${first.id}/annotations/`;
  ids = {
    ...organization.records,
    ...first.records,
    organizations: organization.id,
    projects: String(first.projectId),
    environments: String(first.id),
    annotations: String((await send('POST', annotations, { content: 'a', scope: 'project' })).body.id),
    roles: role,
    role_memberships: held.body.id,
    personal_api_keys: (await send('GET', '/api/personal_api_keys/')).body[0].id,
    login_sessions: (await send('GET', '/api/users/@me/login_sessions/')).body[0].id,
  };
});
afterAll(() => api.stop());

const anyId = randomUUID();

function addressOf(route: Route<Caller>, changed?: { parameter: string; value: string }): string {
  return route.path.replaceAll(/([\w-]+)\/:(\w+)/g, (_match, collection: string, parameter: string) => {
    const id = parameter === 'at' ? '1' : (ids[collection] ?? anyId);
    const value = changed?.parameter === parameter ? changed.value : id;
    return `${collection}/${encodeURIComponent(value)}`;
  });
}

const send = (route: Route<Caller>, address: string) =>
  api.send(route.method, `${address}/`, {
    ...(route.scope !== 'public' && { key: session }),
    ...(route.body !== undefined && { body: route.examples.request ?? {} }),
  });

/**
 * Returns true if the path ends in the ID of a project or environment. These routes respond with 400 to an ID that is
 * not a number.
 */
const isNumbered = ({ path }: Route<Caller>, parameter: string) =>
  parameter === 'id' && /\/(projects|environments)\/:id/.test(path);

test.each(addressed.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'finds no record by a variant of its ID: %s',
  async (_name, route) => {
    const asked = idsOf(route).flatMap(({ collection, parameter }) =>
      spellings.map(([spelling, spell]) => {
        const id = parameter === 'at' ? '1' : (ids[collection] ?? anyId);
        return { parameter, spelling, address: addressOf(route, { parameter, value: spell(id) }) };
      }),
    );
    const responses = await Promise.all(
      asked.map(async (one) => ({ ...one, status: (await send(route, one.address)).status })),
    );
    const isRefused = ({ parameter, status }: { parameter: string; status: number }) =>
      status === 404 ||
      (status === 400 && isNumbered(route, parameter)) ||
      (status === 405 && parameter === 'id') ||
      // Users can access only their own user record, and get 403 for all other IDs.
      (status === 403 && parameter === 'uuid' && route.path === '/api/users/:uuid');
    expect(responses.filter((response) => !isRefused(response))).toEqual([]);
  },
);

/** Skip routes that stream, and routes for records that are missing in the fixture. */
const isElsewhere =
  /remote_config|:(run_id|delivery_id|query_id|uuid|report_id|unsubscribe_id|user_uuid|access_token)|signup|dead_letters|two_factor|live|test_event|matching_ids|bulk/;
const reads = addressed.filter(
  ({ method, path, isUnsafe }) =>
    method === 'GET' && !isUnsafe && !isElsewhere.test(path) && !path.endsWith('backfill'),
);
test('finds every record by its own ID', async () => {
  const statuses = await Promise.all(
    reads.map(async (route) => [route.path, (await send(route, addressOf(route))).status] as const),
  );
  const isFound = (status: number) => status !== 404 && status < 500;
  expect(statuses.filter(([, status]) => !isFound(status))).toEqual([]);
});
