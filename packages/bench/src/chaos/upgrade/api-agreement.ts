import { isDeepStrictEqual } from 'node:util';
import type { TestTenant } from '@millrace/testing';

type Tenant = Pick<TestTenant, 'projectId' | 'personalApiKey'>;

const pathsOf = ({ projectId }: Tenant) => [
  '/api/users/@me/',
  '/api/organizations/@current/',
  `/api/projects/${projectId}/`,
  `/api/environments/${projectId}/`,
  `/api/projects/${projectId}/persons/?limit=20`,
  `/api/projects/${projectId}/groups/?group_type_index=0`,
  `/api/projects/${projectId}/feature_flags/`,
  `/api/projects/${projectId}/cohorts/`,
];

/** What depends on when it was asked, or by whom it is served. */
const ownOfEach = new Set(['last_used_at', 'next', 'previous', 'live_events_token', 'updated_at']);

/**
 * Makes a flag through each of two releases of the management API on one database, and asks both for the same.
 * @returns what the older one shows and the newer does not show alike: a client of today would notice.
 */
export async function compareApis(older: number, newer: number, tenant: Tenant, round: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, port] of [
    ['older', older],
    ['newer', newer],
  ] as const) {
    const body = { key: `by-${name}-${round}`, filters: { groups: [{ rollout_percentage: 50 }] } };
    const made = await ask(port, `/api/projects/${tenant.projectId}/feature_flags/`, tenant, body);
    if (made.status !== 201) problems.push(`${name}: a flag was answered ${made.status}`);
  }
  for (const path of pathsOf(tenant)) {
    const [before, after] = [await ask(older, path, tenant), await ask(newer, path, tenant)];
    if (before.status !== 200 || after.status !== 200) problems.push(`${path}: ${before.status} and ${after.status}`);
    else problems.push(...missing(before.body, after.body, path));
  }
  return problems;
}

async function ask(port: number, path: string, { personalApiKey }: Tenant, body?: object) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

/** Fields of the first that the second lacks or has otherwise; what it has beside is its own affair. */
function missing(first: unknown, second: unknown, at: string): string[] {
  if (isDeepStrictEqual(first, second)) return [];
  if (typeof first !== 'object' || first === null || typeof second !== 'object' || second === null) {
    return [`${at}: ${JSON.stringify(first)?.slice(0, 80)} is ${JSON.stringify(second)?.slice(0, 80)}`];
  }
  if (Array.isArray(first) && (!Array.isArray(second) || first.length !== second.length))
    return [`${at}: another list`];
  const other = second as Record<string, unknown>;
  return Object.entries(first).flatMap(([key, value]) =>
    ownOfEach.has(key) ? [] : missing(value, other[key], `${at} ${key}`),
  );
}
