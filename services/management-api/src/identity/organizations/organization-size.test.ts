import { randomUUID } from 'node:crypto';
import { addMember, createUser } from '@millrace/accounts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/**
 * Tests the stored counts that lists return. Database triggers maintain them, and they must always equal the number of
 * rows.
 */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
});
afterAll(() => api.stop());

const query = (text: string, values?: unknown[]) => api.database.sql.query(text, values);

async function newMember(organizationId = acme.organizationId): Promise<number> {
  const { id: userId } = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
  await addMember(api.database.sql, { organizationId, userId });
  return userId;
}

async function expectTrueCounts() {
  const [members, projects, organization] = await Promise.all(
    ['members/?limit=1', 'projects/?limit=1', ''].map((rest) =>
      api.get(`/api/organizations/${acme.organizationId}/${rest}`, acme.W.key),
    ),
  );
  const [there] = await query(
    `SELECT (SELECT count(*)::int FROM membership m JOIN "user" u ON u.id = m.user_id
              WHERE m.organization_id = $1 AND u.is_active) AS members,
            (SELECT count(*)::int FROM project WHERE organization_id = $1) AS projects`,
    [acme.organizationId],
  );
  expect({ members: members?.body.count, projects: projects?.body.count }).toEqual(there);
  expect(organization?.body.member_count).toBe(there?.members);
  return there;
}

test('updates the counts of members and projects when they are added or deleted and when users are deactivated', async () => {
  const before = await expectTrueCounts();
  const users = await Promise.all(Array.from({ length: 6 }, () => newMember()));
  expect((await expectTrueCounts())?.members).toBe(Number(before?.members) + 6);
  await query('UPDATE "user" SET is_active = false WHERE id = $1', [users[0]]);
  await expectTrueCounts();
  await query('UPDATE "user" SET is_active = true WHERE id = $1', [users[0]]);
  await query('DELETE FROM "user" WHERE id = $1', [users[1]]);
  await query('DELETE FROM membership WHERE user_id = ANY ($1)', [users.slice(2, 4)]);
  await query(`INSERT INTO project (organization_id, name) SELECT $1, 'P' || n FROM generate_series(1, 5) AS n`, [
    acme.organizationId,
  ]);
  await query(`DELETE FROM project WHERE organization_id = $1 AND name IN ('P1', 'P2')`, [acme.organizationId]);
  expect(await expectTrueCounts()).toEqual({
    members: Number(before?.members) + 3,
    projects: Number(before?.projects) + 3,
  });
});

test("a rollback also reverts an organization's counts", async () => {
  await expect(
    api.database.transaction(async (tx) => {
      await tx.query('DELETE FROM membership WHERE organization_id = $1', [acme.organizationId]);
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await expectTrueCounts();
});

test('deleting an organization deletes its counts', async () => {
  const other = await createActors(api.database);
  await newMember(other.organizationId);
  await query('DELETE FROM organization WHERE id = $1', [other.organizationId]);
  expect(await query('SELECT * FROM organization_size WHERE organization_id = $1', [other.organizationId])).toEqual([]);
  await expectTrueCounts();
});

test('a page after the last organization is empty, and includes the total count', async () => {
  for (const list of ['members', 'projects']) {
    const { status, body } = await api.get(
      `/api/organizations/${acme.organizationId}/${list}/?limit=2147483647&offset=2147483647`,
      acme.W.key,
    );
    expect([status, body.results, body.next]).toEqual([200, [], null]);
    expect(body.count).toBeGreaterThan(0);
  }
});
