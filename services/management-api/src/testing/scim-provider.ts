import { randomUUID } from 'node:crypto';
import type { OrganizationActors } from './organization-actors.ts';
import type { TestApi } from './start-test-api.ts';

export interface ScimTestDomain {
  id: string;
  name: string;
  token: string;
}

/**
 * Sets up a verified domain with a SCIM token.
 * @param by `A` if an administrator creates the token, `W` if the owner does
 */
export async function setUpScim(api: TestApi, of: OrganizationActors, by: 'A' | 'W' = 'A'): Promise<ScimTestDomain> {
  const [id, name] = [randomUUID(), `${randomUUID()}.example`];
  await api.database.sql.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at)
     VALUES ($1, $2, $3, 'x', now())`,
    [id, of.organizationId, name],
  );
  const path = `/api/organizations/${of.organizationId}/domains/${id}/scim/`;
  const { status, body } = await api.send('POST', path, { key: of[by].key });
  expect([status, body.scim_enabled]).toEqual([200, true]);
  return { id, name, token: body.scim_bearer_token };
}

export type ScimMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

/**
 * Sends a SCIM request as the domain's identity provider.
 * @param body a string is sent unchanged, and any other value as JSON
 */
export async function sendScim(
  api: TestApi,
  { id, token }: Pick<ScimTestDomain, 'id'> & { token: string | null },
  { method, path, body }: { method: ScimMethod; path: string; body?: unknown },
) {
  const response = await fetch(`${api.url}/scim/v2/${id}${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/scim+json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (text !== '') expect(response.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
}

export const scimError = (status: number, scimType?: string) => ({
  status,
  body: {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType && { scimType }),
    detail: expect.stringMatching(/\w{3}/),
  },
});

export const patchOp = (...Operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});
