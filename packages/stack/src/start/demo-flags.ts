import type { Connection } from './connection-file.ts';
import { fetchJson } from './fetch-json.ts';

/** One flag of each kind: for all users, with variants and payloads, and for some persons only. */
const demoFlags = [
  {
    key: 'new-home-page',
    name: 'Active for all users',
    filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
  },
  {
    key: 'button-color',
    name: 'Three variants, each with a payload',
    filters: {
      groups: [{ properties: [], rollout_percentage: 100 }],
      multivariate: {
        variants: [
          { key: 'control', rollout_percentage: 34 },
          { key: 'green', rollout_percentage: 33 },
          { key: 'orange', rollout_percentage: 33 },
        ],
      },
      payloads: { control: '{"color": "#1565c0"}', green: '{"color": "#2e7d32"}', orange: '{"color": "#ef6c00"}' },
    },
  },
  {
    key: 'staff-tools',
    name: 'For users with an example.com email address',
    filters: {
      groups: [
        {
          properties: [{ key: 'email', type: 'person', operator: 'icontains', value: '@example.com' }],
          rollout_percentage: 100,
        },
      ],
    },
  },
];

/**
 * Creates the demo project's flags through the API. Does nothing if the project has ever had a flag, so that flags that
 * were deleted or changed are not created again.
 */
export async function ensureDemoFlags({
  apiUrl,
  projectId,
  personalApiKey,
}: Pick<Connection, 'apiUrl' | 'projectId' | 'personalApiKey'>): Promise<void> {
  const path = `${apiUrl}/api/projects/${projectId}/feature_flags/`;
  const headers = { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' };
  const { total_count: changes } = (await fetchJson(`${path}activity/?limit=1`, { headers })) as {
    total_count: number;
  };
  if (changes > 0) return;
  for (const flag of demoFlags) await fetchJson(path, { method: 'POST', headers, body: JSON.stringify(flag) });
}
