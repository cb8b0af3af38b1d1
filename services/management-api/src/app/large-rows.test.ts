import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';
import { storeGroup, storePerson } from '../testing/stored-data.ts';

/**
 * Tests lists whose rows can be large. Each page must contain the requested number of rows, and no row may be skipped
 * or repeated.
 */
let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
});
afterAll(() => api.stop());

const MiB = 1024 * 1024;
const rows = 12;
const large = 'x'.repeat(MiB / 2);
const query = (text: string, values: unknown[]) => api.database.sql.query(text, values);

const lists: Record<string, { path: (tenant: TestTenant) => string; store: () => Promise<unknown> }> = {
  domains: {
    path: ({ organizationId }) => `/api/organizations/${organizationId}/domains/`,
    store: () =>
      query(
        `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, saml_x509_cert)
         SELECT gen_random_uuid(), $1, 'd' || n || '.example', '', $2 FROM generate_series(1, $3::int) AS n`,
        [tenant.organizationId, large, rows],
      ),
  },
  invites: {
    path: ({ organizationId }) => `/api/organizations/${organizationId}/invites/`,
    store: () =>
      query(
        `INSERT INTO organization_invite (id, organization_id, target_email, email_key, message, token_hash)
         SELECT gen_random_uuid(), $1, n || '@example.com', n || '@example.com', $2, md5(n::text)
           FROM generate_series(1, $3::int) AS n`,
        [tenant.organizationId, large, rows],
      ),
  },
  persons: {
    path: ({ projectId }) => `/api/projects/${projectId}/persons/`,
    store: async () => {
      for (let index = 0; index < rows; index += 1) {
        await storePerson(api.database.sql, tenant.projectId, { distinctIds: [`p${index}`], properties: { large } });
      }
    },
  },
  groups: {
    path: ({ projectId }) => `/api/environments/${projectId}/groups/`,
    store: async () => {
      for (let index = 0; index < rows; index += 1) {
        const group = { type: 'company', index: 0, key: `g${index}`, properties: { large } };
        await storeGroup(api.database.sql, tenant.projectId, group);
      }
    },
  },
};

test.each(Object.entries(lists))(
  '%s: returns pages with the requested number of rows',
  async (_name, { path, store }) => {
    await store();
    const whole = await api.get(`${path(tenant)}?limit=1000`, tenant.personalApiKey);
    expect([whole.status, whole.body.results.length, whole.body.next]).toEqual([200, rows, null]);
    expect(whole.body.count ?? rows).toBe(rows);
    const first = await api.get(`${path(tenant)}?limit=7`, tenant.personalApiKey);
    expect(first.body.results).toEqual(whole.body.results.slice(0, 7));
    const second = await api.get(first.body.next, tenant.personalApiKey);
    expect([second.body.results, second.body.next]).toEqual([whole.body.results.slice(7), null]);
    expect(new Set(whole.body.results.map((row: object) => JSON.stringify(row))).size).toBe(rows);
  },
);

test('returns all requested log records, without the changed values if the page would become too large', async () => {
  await query(
    `INSERT INTO activity_log (id, organization_id, environment_id, scope, item_id, activity, detail, created_at)
     SELECT gen_random_uuid(), $1, $2::int, 'Team', $2::text, 'updated',
            jsonb_build_object('name', n::text, 'short_id', null, 'type', null, 'trigger', null, 'changes', jsonb_build_array(
              jsonb_build_object('type', 'Team', 'action', 'changed', 'field', 'x', 'before', $3::text, 'after', n))), now()
       FROM generate_series(1, $4::int) AS n`,
    [tenant.organizationId, tenant.projectId, large, rows],
  );
  const { body } = await api.send('GET', `/api/projects/${tenant.projectId}/activity/?limit=1000`, {
    key: tenant.personalApiKey,
    headers: { prefer: 'return=representation' },
  });
  expect(body.results).toHaveLength(rows);
  expect(JSON.stringify(body).length).toBeLessThan(3 * MiB);
  expect(body.results[0].detail.changes[0].before).toBe(large);
  expect(body.results.at(-1).detail).toMatchObject({ changes: null });
});

test.each([
  ['/api/users/@me/', { hedgehog_config: { large } }, 'hedgehog_config'],
  ['/api/projects/@current/', { has_completed_onboarding_for: [large] }, 'has_completed_onboarding_for'],
])('%s: rejects values that would be repeated in lists if they are too large', async (path, body, attr) => {
  const response = await api.send('PATCH', path, { key: tenant.personalApiKey, body });
  expect([response.status, response.body.code, response.body.attr]).toEqual([400, 'max_length', attr]);
});
