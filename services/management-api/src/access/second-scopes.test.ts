import { createPersonalApiKey, updatePersonalApiKey } from '@millrace/accounts';
import type { Scope } from '@millrace/contracts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { permissionDenied } from '../testing/expected-errors.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

/**
 * Tests routes that read or change more than their own resource, and therefore require additional scopes
 * (docs/api/personal-api-keys.md#scopes).
 */
const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] };
let api: TestApi;
let tenant: TestTenant;
let limited: Awaited<ReturnType<typeof createPersonalApiKey>>;
const ids: Record<string, string | number> = {};
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database, { plan: 'full' });
  const { userId } = tenant;
  limited = await createPersonalApiKey(api.database.sql, { actor: null, userId, label: 'limited', scopes: ['*'] });
  const make = async (path: string, body: object) => {
    const made = await send('POST', path, body, tenant.personalApiKey);
    expect([path, made.status, made.body.detail]).toEqual([path, 201, undefined]);
    return made.body;
  };
  ids.insight = (await make('insights', { name: 'One', saved: true, query })).id;
  ids.dashboard = (await make('dashboards', { name: 'One' })).id;
  ids.doomed = (await make('dashboards', { name: 'Doomed' })).id;
  await make('insights', { name: 'Two', saved: true, query, dashboards: [ids.doomed] });
  ids.deleted = (await make('dashboards', { name: 'Deleted' })).id;
  await make('insights', { name: 'Three', saved: true, query, dashboards: [ids.deleted] });
  await send('PATCH', 'dashboards/{deleted}', { deleted: true, delete_insights: true }, tenant.personalApiKey);
  ids.flag = (await make('feature_flags', { key: 'one' })).id;
  ids.feature = (await make('early_access_feature', { name: 'Beta', stage: 'beta' })).id;
  ids.subscription = (await make('subscriptions', { ...subscription, insight: ids.insight })).id;
  ids.ofDashboard = (await make('subscriptions', { ...subscription, dashboard: ids.dashboard })).id;
  ids.export = (await make('batch_exports', exported)).id;
  ids.paused = (await make('batch_exports', { ...exported, paused: true })).id;
  ids.persons = (await make('batch_exports', { ...exported, model: 'persons' })).id;
  ids.cohort = (await make('cohorts', { name: 'One', is_static: true })).id;
});
afterAll(() => api.stop());

const subscription = {
  ...{ target_type: 'email', target_value: 'ada@example.com', frequency: 'daily' },
  start_date: '2026-11-02T09:00:00Z',
};
const exported = {
  name: 'One',
  interval: 'hour',
  destination: { type: 'Postgres', config: { host: 'h', database: 'd', user: 'u', password: 'p' } },
};
const range = { start_at: '2026-11-01T00:00:00Z', end_at: '2026-11-01T02:00:00Z' };
const condition = { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] };

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const send = (method: Method, path: string, body: object | undefined, key: string) => {
  const filled = (text: string) => text.replaceAll(/"?\{(\w+)\}"?/g, (_match, name: string) => String(ids[name]));
  const [at, query = ''] = filled(path).split('?');
  return api.send(method, `/api/projects/${tenant.projectId}/${at}/?${query}`, {
    key,
    ...(body && { body: JSON.parse(filled(JSON.stringify(body))) }),
  });
};

async function sendWith(scopes: Scope[], method: Method, path: string, body?: object) {
  const owner = { actor: null, userId: tenant.userId };
  await updatePersonalApiKey(api.database.sql, { ...owner, id: limited.key.id }, { scopes });
  return send(method, path, body, limited.value);
}

const cases: [Scope[], Method, string, object?][] = [
  [['subscription:read', 'insight:read'], 'GET', 'subscriptions/preview?insight={insight}'],
  [['subscription:read', 'insight:read', 'dashboard:read'], 'GET', 'subscriptions/preview?dashboard={dashboard}'],
  [['subscription:write', 'insight:read'], 'POST', 'subscriptions', { ...subscription, insight: '{insight}' }],
  [
    ['subscription:write', 'insight:read', 'dashboard:read'],
    'POST',
    'subscriptions',
    { ...subscription, dashboard: '{dashboard}' },
  ],
  [
    ['subscription:write', 'insight:read'],
    'PATCH',
    'subscriptions/{subscription}',
    { target_value: 'eve@example.com' },
  ],
  [
    ['subscription:write', 'insight:read', 'dashboard:read'],
    'PATCH',
    'subscriptions/{ofDashboard}',
    { target_value: 'eve@example.com' },
  ],
  [['subscription:write'], 'PATCH', 'subscriptions/{subscription}', { deleted: true }],
  [['dashboard:write', 'insight:write'], 'PATCH', 'dashboards/{doomed}', { deleted: true, delete_insights: true }],
  [['dashboard:write', 'insight:write'], 'PATCH', 'dashboards/{deleted}', { deleted: false }],
  [['dashboard:write', 'insight:write'], 'POST', 'dashboards', { use_dashboard: '{dashboard}', duplicate_tiles: true }],
  [['dashboard:write'], 'POST', 'dashboards', { use_dashboard: '{dashboard}' }],
  [['insight:write', 'dashboard:write'], 'POST', 'insights', { name: 'New', query, dashboards: ['{dashboard}'] }],
  [['insight:write', 'dashboard:write'], 'PATCH', 'insights/{insight}', { dashboards: ['{dashboard}'] }],
  [['insight:write'], 'PATCH', 'insights/{insight}', { name: 'Other' }],
  [['insight:read', 'dashboard:read'], 'GET', 'insights/{insight}?from_dashboard={dashboard}'],
  [
    ['early_access_feature:write', 'feature_flag:write'],
    'POST',
    'early_access_feature',
    { name: 'New', stage: 'draft' },
  ],
  [
    ['early_access_feature:write', 'feature_flag:write'],
    'POST',
    'early_access_feature',
    { name: 'Of one', stage: 'draft', feature_flag_id: '{flag}' },
  ],
  [['early_access_feature:write'], 'PATCH', 'early_access_feature/{feature}', { name: 'Other' }],
  [
    ['early_access_feature:write', 'feature_flag:write'],
    'PATCH',
    'early_access_feature/{feature}',
    { stage: 'archived' },
  ],
  [['early_access_feature:write', 'feature_flag:write'], 'PATCH', 'early_access_feature/{feature}', { stage: 'beta' }],
  [['early_access_feature:write', 'feature_flag:write'], 'DELETE', 'early_access_feature/{feature}'],
  [['feature_flag:read', 'query:read'], 'GET', 'feature_flags/{flag}/exposures'],
  [['feature_flag:read', 'person:read'], 'POST', 'feature_flags/user_blast_radius', { condition }],
  [
    ['feature_flag:read', 'group:read'],
    'POST',
    'feature_flags/user_blast_radius',
    { condition: {}, group_type_index: 0 },
  ],
  [['cohort:write', 'feature_flag:read'], 'POST', 'feature_flags/{flag}/create_static_cohort_for_flag'],
  [['cohort:read', 'person:read'], 'GET', 'cohorts/{cohort}/persons'],
  [['sharing_configuration:read', 'insight:read'], 'GET', 'insights/{insight}/sharing'],
  [['sharing_configuration:write', 'insight:read'], 'PATCH', 'insights/{insight}/sharing', { enabled: true }],
  [['sharing_configuration:write', 'insight:read'], 'POST', 'insights/{insight}/sharing/refresh'],
  [['sharing_configuration:read', 'dashboard:read'], 'GET', 'dashboards/{dashboard}/sharing'],
  [['sharing_configuration:write', 'dashboard:read'], 'PATCH', 'dashboards/{dashboard}/sharing', { enabled: true }],
  [['sharing_configuration:write', 'dashboard:read'], 'POST', 'dashboards/{dashboard}/sharing/refresh'],
  [['batch_export:write', 'event:read', 'person:read'], 'POST', 'batch_exports', exported],
  [['batch_export:write', 'person:read'], 'POST', 'batch_exports', { ...exported, model: 'persons' }],
  [['batch_export:write', 'event:read', 'person:read'], 'PATCH', 'batch_exports/{export}', { name: 'Other' }],
  [['batch_export:write', 'person:read'], 'PATCH', 'batch_exports/{persons}', { name: 'Other' }],
  [['batch_export:write', 'event:read', 'person:read'], 'POST', 'batch_exports/{paused}/backfill', range],
  [['batch_export:write', 'event:read', 'person:read'], 'POST', 'batch_exports/{paused}/unpause', {}],
  [['batch_export:write'], 'POST', 'batch_exports/{export}/pause', {}],
];

test.each(cases)('requires all of the scopes %j for: %s %s %j', async (...[scopes, method, path, body]) => {
  for (const missing of scopes.slice(1)) {
    const others = scopes.filter((scope) => scope !== missing);
    const response = await sendWith(others, method, path, body);
    expect(response).toMatchObject(permissionDenied(`API key missing required scope '${missing}'`));
  }
  const response = await sendWith(scopes, method, path, body);
  expect([response.status < 300, response.body?.detail]).toEqual([true, undefined]);
});
