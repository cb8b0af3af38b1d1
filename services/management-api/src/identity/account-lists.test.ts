import { randomUUID } from 'node:crypto';
import { addMember, createUser } from '@millrace/accounts';
import { createActors, type OrganizationActors } from '../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

/**
 * Tests that a list takes the same number of SQL statements for any number of records, and that its pages neither skip
 * nor repeat records.
 */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
});
afterAll(() => api.stop());

const count = 25;
const fill: Record<string, () => Promise<unknown>> = {
  domains: async () => {
    for (let index = 0; index < count; index += 1) {
      await post('domains', { domain: `d${index}.example.net` });
    }
  },
  invites: async () => {
    for (let index = 0; index < count; index += 5) {
      const body = [0, 1, 2, 3, 4].map(() => ({ target_email: `${randomUUID()}@guest.example`, send_email: false }));
      await post('invites/bulk', body);
    }
  },
  members: async () => {
    for (let index = 0; index < count; index += 1) {
      const { id: userId } = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
      await addMember(api.database.sql, { organizationId: acme.organizationId, userId });
    }
  },
};
async function post(list: string, body: unknown) {
  const response = await api.send('POST', `/api/organizations/${acme.organizationId}/${list}/`, {
    key: acme.W.key,
    body,
  });
  expect(response.status).toBeLessThan(300);
}

test.each(Object.keys(fill))('the list of %s runs a constant number of SQL statements', async (list) => {
  const path = `/api/organizations/${acme.organizationId}/${list}/`;
  const statementsOf = (address: string) =>
    api.statementsOf(async () => expect((await api.get(address, acme.M.key)).status).toBe(200));
  const empty = await statementsOf(path);
  await fill[list]?.();
  expect([await statementsOf(path), await statementsOf(`${path}?limit=5`)]).toEqual([empty, empty]);
  expect(empty).toBeLessThanOrEqual(3);

  const whole = (await api.get(path, acme.M.key)).body;
  expect(whole.count).toBe(whole.results.length);
  const ids: string[] = [];
  for (let next: string | null = `${path}?limit=4`; next !== null; ) {
    const { body } = await api.get(next, acme.M.key);
    ids.push(...body.results.map(({ id }: { id: string }) => id));
    next = body.next;
  }
  expect(ids).toEqual(whole.results.map(({ id }: { id: string }) => id));
  expect(ids.length).toBeGreaterThanOrEqual(count);
});
