import type { ReleaseRecord } from './release-record.ts';

/** Makes what an administrator makes, so that there are rows of it. @throws Error when something is refused. */
export async function makeDefinitions(
  port: number,
  { projectId, personalApiKey }: ReleaseRecord['tenant'],
): Promise<void> {
  const post = async (path: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/projects/${projectId}/${path}/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: number };
  };
  const filter = { key: 'plan', type: 'person', operator: 'exact', value: 'pro' };
  const cohort = await post('cohorts', {
    name: 'payers',
    filters: { properties: { type: 'AND', values: [{ type: 'AND', values: [filter] }] } },
  });
  await post('feature_flags', { key: 'beta' });
  await post('feature_flags', { key: 'off', active: false });
  await post('feature_flags', { key: 'half', filters: { groups: [{ rollout_percentage: 50 }] } });
  await post('feature_flags', {
    key: 'of-plan',
    filters: { groups: [{ properties: [filter] }], payloads: { true: '{"a":1}' } },
  });
  await post('feature_flags', {
    key: 'of-cohort',
    filters: { groups: [{ properties: [{ key: 'id', type: 'cohort', value: cohort.id }] }] },
  });
  await post('feature_flags', {
    key: 'variants',
    ensure_experience_continuity: true,
    filters: {
      groups: [{ rollout_percentage: 100 }],
      multivariate: { variants: ['a', 'b'].map((key) => ({ key, rollout_percentage: 50 })) },
    },
  });
}

/** What clients ask both for. */
export async function askServices(
  ports: { api: number; gateway: number },
  { projectId, projectApiKey, personalApiKey }: ReleaseRecord['tenant'],
): Promise<ReleaseRecord['answers']> {
  const answers: ReleaseRecord['answers'] = {};
  const lists = ['persons/?limit=50', 'groups/?group_type_index=0', 'feature_flags/', 'cohorts/', 'event_definitions/'];
  const paths = [
    ...[
      '/api/users/@me/',
      '/api/organizations/@current/',
      `/api/projects/${projectId}/`,
      `/api/environments/${projectId}/`,
    ],
    ...lists.map((list) => `/api/projects/${projectId}/${list}`),
  ];
  for (const path of paths) {
    const headers = { authorization: `Bearer ${personalApiKey}` };
    const response = await fetch(`http://127.0.0.1:${ports.api}${path}`, { headers });
    answers[path] = { status: response.status, body: await response.json() };
  }
  for (const distinctId of ['anna@example.com', 'bert', 'nobody-knows']) {
    const response = await fetch(`http://127.0.0.1:${ports.gateway}/flags/?v=2`, {
      method: 'POST',
      body: JSON.stringify({ api_key: projectApiKey, distinct_id: distinctId }),
    });
    answers[`flags of ${distinctId}`] = { status: response.status, body: await response.json() };
  }
  return answers;
}
