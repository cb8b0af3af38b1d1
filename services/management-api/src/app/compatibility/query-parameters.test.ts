import { documentedNames } from '../../testing/documented-names.ts';
import { createSampleRecords, type SampleRecords } from '../../testing/sample-records.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/**
 * Tests every query parameter that PostHog documents for a route that Millrace has. A supported parameter must change
 * the response, or get an error for an invalid value. A rejected parameter must get an error that names the parameter.
 * A parameter without effect must not change anything.
 */
let api: TestApi;
let records: SampleRecords;
beforeAll(async () => {
  api = await startTestApi();
  records = await createSampleRecords(api);
}, 60_000);
afterAll(() => api.stop());

const usual: Record<string, string> = {
  limit: '1',
  offset: '1',
  cursor: 'no cursor',
  page: '2',
  search: 'no record has this text',
  format: 'csv',
  properties: '[{"type":"person","key":"plan","value":"ann"}]',
  group_type_index: '1',
  ordering: 'no field',
};

interface QueryCase {
  with?: string;
  /** Values that change the response. A parameter with the value null is not tested, for the reason in `why`. */
  values?: Record<string, string | null>;
  why?: string;
}

const cases: Record<string, QueryCase> = {
  'GET /api/projects/{}/activity_log': {
    values: { item_id: 'none', page_size: '1', scopes: '["Cohort"]' },
  },
  'GET /api/projects/{}/event_definitions/by_name': { with: 'name=visit', values: { name: 'buy' } },
  'GET /api/projects/{}/events': {
    values: {
      after: '2100-01-01',
      before: '2000-01-01',
      distinct_id: 'ann',
      event: 'visit',
      person_id: '0193f0c5-7a4e-7000-8000-000000000001',
    },
  },
  'GET /api/projects/{}/events/values': { with: 'key=plan' },
  'GET /api/projects/{}/persons': { values: { distinct_id: 'ann', email: 'ann@example.com' } },
  'GET /api/projects/{}/persons/values': { with: 'key=plan', values: { key: 'email', value: 'nn' } },
  'GET /api/projects/{}/groups': { with: 'group_type_index=0' },
  'GET /api/projects/{}/groups/find': { with: 'group_type_index=0&group_key=ann', values: { group_key: 'bob' } },
  'GET /api/projects/{}/persons/cohorts': { with: 'person_id=ann', values: { person_id: 'bob' } },
  'GET /api/projects/{}/groups/related': {
    with: 'group_type_index=0&id=ann',
    values: { id: null, group_type_index: '9' },
    why: 'Groups are related by events, which the sample has none of; groups/related.test.ts proves it.',
  },
  'GET /api/projects/{}/feature_flags': {
    values: {
      active: 'false',
      created_by_id: '987654321',
      evaluation_runtime: 'server',
      excluded_properties: '["a"]',
      has_evaluation_contexts: 'true',
      tags: '["one"]',
      type: 'remote_config',
    },
  },
  'GET /api/projects/{}/feature_flags/activity': { values: { limit: '1' } },
  'GET /api/projects/{}/feature_flags/my_flags': { values: { groups: 'no object' } },
  'GET /api/projects/{}/insights': {
    values: { basic: 'true', created_by: '987654321', short_id: 'none', refresh: null },
    why: 'The sample has no cached results; insights/results.test.ts proves it.',
  },
  'GET /api/projects/{}/insights/{}': {
    with: 'refresh=force_blocking',
    // The route finds the insight only if `from_dashboard` is the ID of a dashboard that contains it.
    values: { refresh: 'force_cache', from_dashboard: '987654321' },
  },
  'GET /api/projects/{}/property_definitions': {
    values: {
      event_names: '["visit"]',
      exclude_core_properties: 'true',
      exclude_hidden: 'neither',
      excluded_properties: '["plan"]',
      filter_by_event_names: 'true',
      is_feature_flag: 'true',
      is_numerical: 'true',
      properties: 'plan',
      type: 'person',
      verified: 'true',
    },
  },
  'GET /api/users': {
    values: { email: 'other@example.com', is_staff: 'true', limit: null },
    why: 'The list has one user at most, so a limit cannot cut it.',
  },
};

/** Parameters that other tests cover, because those tests check what was deleted. */
const elsewhere = new Set([
  'POST /api/projects/{}/persons/bulk_delete delete_events',
  'DELETE /api/projects/{}/persons/{} delete_events',
]);

async function ask(
  key: string,
  query: string,
): Promise<{ status: number; text: string; attr?: unknown; detail?: unknown }> {
  const [method = '', path = ''] = key.split(' ');
  const filled = path.replace(/([^/]+)\/\{\}/g, (_, kind: string) => `${kind}/${records.ids[kind]}`);
  const response = await fetch(`${api.url}${filled}/?${query}`, {
    method,
    headers: { authorization: `Bearer ${records.key}` },
  });
  // Remove links, because they contain the query string, and times, because they differ between responses.
  const text = (await response.text()).replace(/"(next|previous)":("[^"]*"|null)/g, '');
  const isError = response.status >= 400 && text.startsWith('{');
  return { status: response.status, text, ...(isError && JSON.parse(text)) };
}

const parameter = (name: string, value: string) => new URLSearchParams({ [name]: value }).toString();

test.each(documentedNames('query').map((names) => [names.key, names] as const))(
  'every documented query parameter of %s works, is rejected by name, or is listed as without effect',
  async (key, { route, working, refused, ignored }) => {
    const { with: needed = '', values = {} } = cases[key] ?? {};
    const problems: string[] = [];
    const isDeclared = (name: string) => Object.hasOwn(route.query.properties, name);
    const isComparable = (name: string) => isDeclared(name) && !elsewhere.has(`${key} ${name}`);
    const usually = working.some(isComparable) || ignored.length > 0 ? await ask(key, needed) : undefined;
    expect([key, usually?.status ?? 200]).toEqual([key, 200]);
    for (const name of refused) {
      const response = await ask(key, `${needed}&${parameter(name, 'x')}`);
      if (response.status !== 400 || response.attr !== name) problems.push(`${name} is not refused: ${response.text}`);
    }
    for (const name of ignored) {
      const response = await ask(key, `${needed}&${parameter(name, 'x')}`);
      if (response.text !== usually?.text) problems.push(`${name} has an effect: ${response.text}`);
    }
    for (const name of working) {
      const value = name in values ? values[name] : usual[name];
      if (value === null || elsewhere.has(`${key} ${name}`)) continue;
      if (value === undefined) {
        problems.push(`${name} has no value in this test that would show what it does`);
        continue;
      }
      const response = await ask(key, withParameter(needed, name, value));
      if (name === 'format' && !isDeclared(name)) {
        if (response.status !== 400 || response.attr !== 'format')
          problems.push(`format=csv is not refused: ${response.text}`);
      } else if (!isDeclared(name)) problems.push(`${name} is unknown: ${response.text}`);
      else if (response.text === usually?.text) problems.push(`${name}=${value} has no effect`);
    }
    expect(problems).toEqual([]);
  },
);

function withParameter(needed: string, name: string, value: string): string {
  const query = new URLSearchParams(needed);
  query.set(name, value);
  return query.toString();
}
