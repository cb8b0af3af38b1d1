import { randomUUID } from 'node:crypto';
import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let tenant: TestTenant;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  tenant = await createTestTenant(fixture.database);
});

async function ask(query: string, path = '/api/early_access_features/') {
  const response = await fetch(`${gateway.url}${path}?${query}`, { headers: { origin: 'https://app.example' } });
  const body = (await response.json()) as { earlyAccessFeatures: { stage: string }[] };
  return { status: response.status, headers: response.headers, body };
}
async function feature(stage: string, fields: { deleted?: boolean } = {}): Promise<void> {
  const { sql } = fixture.database;
  const key = `flag-${stage}-${randomUUID()}`;
  const [flag] = await sql.query<{ id: number }>(
    'INSERT INTO feature_flag (project_id, key, deleted) VALUES ($1, $2, $3) RETURNING id',
    [tenant.environmentId, key, fields.deleted ?? false],
  );
  await sql.query(
    `INSERT INTO early_access_feature (id, project_id, feature_flag_id, name, description, stage, documentation_url, payload)
     VALUES ($1, $2, $3, $4, 'What it does', $5, 'https://docs.example', '{"teaser": [1]}')`,
    [randomUUID(), tenant.environmentId, flag?.id, `Feature ${stage}`, stage],
  );
}
const stagesOf = async (query: string) =>
  (await ask(`token=${tenant.token}${query}`)).body.earlyAccessFeatures
    .map((one: { stage: string }) => one.stage)
    .sort();

test('returns early access features by stage, beta by default, and never drafts or archived features', async () => {
  for (const stage of ['draft', 'concept', 'alpha', 'beta', 'general-availability', 'archived']) await feature(stage);
  await feature('beta', { deleted: true });
  const response = await ask(`token=${tenant.token}`, '/api/early_access_features');
  expect(response.status).toBe(200);
  expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
  expect(response.body).toEqual({
    earlyAccessFeatures: [
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Feature beta',
        description: 'What it does',
        stage: 'beta',
        documentationUrl: 'https://docs.example',
        payload: { teaser: [1] },
        flagKey: expect.stringMatching(/^flag-beta-/),
      },
    ],
  });
  expect(await stagesOf('&stage=alpha')).toEqual(['alpha']);
  expect(await stagesOf('&stage=alpha&stage=concept')).toEqual(['alpha', 'concept']);
  expect(await stagesOf('&stage=draft&stage=archived')).toEqual([]);
  expect(await stagesOf('&stage=')).toEqual(['beta']);
  expect(await stagesOf('&stage=nonsense')).toEqual([]);
});

test("returns the project's early access features, and an error for an unknown key", async () => {
  await feature('beta');
  const other = await createTestTenant(fixture.database);
  expect((await ask(`token=${other.token}`)).body).toEqual({ earlyAccessFeatures: [] });
  expect(await ask('token=phc_nobody')).toMatchObject({ status: 401 });
  expect(await ask('')).toMatchObject({ status: 401 });
});

test('applies a change to an early access feature immediately', async () => {
  expect(await stagesOf('')).toEqual([]);
  await feature('beta');
  await eventually(async () => (await stagesOf('')).length === 1, { what: 'The new feature' });
});
