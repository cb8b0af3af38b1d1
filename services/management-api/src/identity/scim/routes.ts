// Declares the routes that let administrators manage a domain's SCIM token and read the provider's latest requests
// (docs/api/scim.md).

import { recordActivity } from '@millrace/accounts';
import { newSecret } from '@millrace/accounts/access';
import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Database, Transaction } from '@millrace/db';
import { type ApiRequest, formatDateTime, offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization } from '../../access/addressed-organization.ts';
import type { Caller, Membership } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { requireOwnerIfOwnerUsesDomain } from '../domains/rules.ts';
import { domainParams } from '../domains/schema.ts';
import { type DomainRow, findDomain, lockDomain } from '../domains/store.ts';
import { deleteToken, findScimTokenDates, listScimRequests, type ScimTokenRow, storeScimToken } from './store.ts';

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

const scim = Type.Object(
  {
    scim_enabled: Type.Boolean({ description: 'Whether SCIM is enabled, which means that the domain has a token.' }),
    scim_base_url: Type.String({ description: 'SCIM base URL to enter in the identity provider.' }),
    created_at: nullableTime('When the token was created. Null if the domain has no token.'),
    last_used_at: nullableTime(
      'When the identity provider last used the token, accurate to the minute. Null if the token has not been used.',
    ),
    scim_bearer_token: Type.Optional(
      Type.String({ description: 'The token. Returned only by the request that creates it.' }),
    ),
  },
  { title: 'Scim' },
);
const scimRequest = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the log entry.' }),
    method: Type.String({ description: 'HTTP method.' }),
    path: Type.String({ description: "Path relative to the domain's SCIM base URL, including the query string." }),
    status: Type.Integer({ description: 'HTTP status of the response.' }),
    detail: Type.String({ description: 'Why the request was rejected. Empty if the request succeeded.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the request was received.' }),
  },
  { title: 'ScimRequest' },
);

const example = {
  scim_enabled: true,
  scim_base_url: 'https://example.com/scim/v2/0193f0c5-7a4e-7000-8000-0000000000aa/',
  created_at: '2026-11-21T12:00:00Z',
  last_used_at: null,
};
const withToken = { ...example, scim_bearer_token: 'scim_u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk' };
const off = { ...example, scim_enabled: false, created_at: null };
const requestExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000e3',
  method: 'POST',
  path: '/Users',
  status: 201,
  detail: '',
  created_at: '2026-11-21T12:00:00Z',
};

const path = '/api/organizations/:organization_id/domains/:id/scim';

export function scimRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const common = {
    tags: ['domains'] as [string],
    params: domainParams,
    level: membershipLevels.administrator,
    target: addressedOrganization(sql),
  } as const;
  const responses = { 200: { description: "The domain's SCIM settings.", schema: scim } } as const;

  async function change(
    {
      caller,
      organizationId,
      id,
      request,
    }: { caller: Caller; organizationId: string; id: string; request: ApiRequest },
    work: (tx: Transaction, domain: DomainRow) => Promise<{ token?: string; before: boolean; after: boolean } | null>,
  ) {
    return transaction(async (tx) => {
      const domain = requireDomain(await lockDomain(tx, organizationId, id));
      const done = await work(tx, domain);
      if (done) {
        const { before, after } = done;
        const action = before === after ? 'changed' : after ? 'created' : 'deleted';
        await recordActivity(tx, {
          organizationId,
          scope: 'OrganizationDomain',
          itemId: domain.id,
          name: domain.domain,
          activity: 'updated',
          actor: caller,
          changes: [{ type: 'OrganizationDomain', action, field: 'scim_token', before: null, after: null }],
        });
      }
      const shown = toScim(domain.id, await findScimTokenDates(tx, domain.id), request);
      return { ...shown, ...(done?.token !== undefined && { scim_bearer_token: done.token }) };
    });
  }

  async function renew(tx: Transaction, domain: DomainRow, { caller, member }: { caller: Caller; member: Membership }) {
    requireUsable(domain);
    await requireOwnerIfOwnerUsesDomain(tx, member, domain.domain);
    const before = (await findScimTokenDates(tx, domain.id)) !== undefined;
    const token = `scim_${newSecret()}`;
    await storeScimToken(tx, { domainId: domain.id, token, createdById: caller.userId });
    return { token, before, after: true };
  }

  return [
    defineRoute({
      ...common,
      method: 'GET',
      path,
      operationId: 'organizations_domains_scim_retrieve',
      summary: "Show a domain's SCIM settings",
      description:
        'Returns whether SCIM is enabled for the domain, and the base URL to enter in the identity provider.',
      scope: 'organization:read',
      responses: responses,
      examples: { response: example },
      handler: async ({ target: { organizationId }, params, request }) => {
        const domain = requireDomain(await findDomain(sql, organizationId, params.id));
        return toScim(domain.id, await findScimTokenDates(sql, domain.id), request);
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path,
      operationId: 'organizations_domains_scim_create',
      summary: 'Enable SCIM for a domain',
      description:
        "Creates a token that the identity provider uses to manage the domain's users and groups. If a token " +
        'already exists, the existing token does not change and is not returned. To replace it, use `regenerate`.',
      scope: 'organization:write',
      isSensitive: true,
      responses: responses,
      examples: { response: withToken },
      handler: ({ caller, target: member, params: { id }, request }) =>
        change({ caller, organizationId: member.organizationId, id, request }, async (tx, domain) =>
          (await findScimTokenDates(tx, domain.id)) ? null : renew(tx, domain, { caller, member }),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${path}/regenerate`,
      operationId: 'organizations_domains_scim_regenerate_create',
      summary: 'Replace the SCIM token',
      description: 'Creates a new token. The previous token stops working immediately.',
      scope: 'organization:write',
      isSensitive: true,
      responses: responses,
      examples: { response: withToken },
      handler: ({ caller, target: member, params: { id }, request }) =>
        change({ caller, organizationId: member.organizationId, id, request }, (tx, domain) =>
          renew(tx, domain, { caller, member }),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${path}/disable`,
      operationId: 'organizations_domains_scim_disable_create',
      summary: 'Disable SCIM for a domain',
      description: 'Deletes the token, which stops working immediately. Members and roles do not change.',
      scope: 'organization:write',
      isSensitive: true,
      responses: responses,
      examples: { response: off },
      handler: ({ caller, target: { organizationId }, params: { id }, request }) =>
        change({ caller, organizationId, id, request }, async (tx, domain) =>
          (await deleteToken(tx, domain.id)) ? { before: true, after: false } : null,
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: `${path}/logs`,
      operationId: 'organizations_domains_scim_logs_list',
      summary: 'List SCIM requests for a domain',
      description: 'Returns the last 500 SCIM requests that changed something or were rejected, the latest first.',
      scope: 'organization:read',
      query: Type.Object({
        limit: Type.Integer({ default: 20, minimum: 1, maximum: 100, description: 'Number of requests per page.' }),
        offset: offsetQuery.offset,
      }),
      responses: { 200: { description: 'One page of SCIM requests.', schema: offsetPageSchema(scimRequest) } },
      examples: { response: { count: 1, next: null, previous: null, results: [requestExample] } },
      handler: async ({ target: { organizationId }, params, query, request }) => {
        const domain = requireDomain(await findDomain(sql, organizationId, params.id));
        return offsetPage(request, query, async (window) => {
          const { count, rows } = await listScimRequests(sql, domain.id, window);
          return { count, results: rows.map((row) => ({ ...row, created_at: formatDateTime(row.created_at) })) };
        });
      },
    }),
  ];
}

function requireDomain(row: DomainRow | undefined): DomainRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}

/**
 * Checks that SCIM can be turned on for a domain.
 * @throws AppError `invalid` if the domain is not verified, or `payment_required` if the plan does not include SCIM
 */
function requireUsable({ verified_at, features }: DomainRow): void {
  if (!hasPlanFeature(features, 'scim')) {
    throw new AppError('payment_required', "The organization's plan does not include SCIM.");
  }
  if (verified_at !== null) return;
  throw new AppError('invalid', 'Verify the domain before you enable SCIM.', { code: 'verification_required' });
}

function toScim(domainId: string, token: ScimTokenRow | undefined, { baseUrl }: ApiRequest) {
  return {
    scim_enabled: token !== undefined,
    scim_base_url: `${baseUrl}/scim/v2/${domainId}/`,
    created_at: token ? formatDateTime(token.created_at) : null,
    last_used_at: token?.last_used_at ? formatDateTime(token.last_used_at) : null,
  };
}
