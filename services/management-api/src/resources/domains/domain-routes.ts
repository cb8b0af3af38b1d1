import type { Database } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { defineRoute } from '../../access/define-route.ts';
import { domain, domainExample } from './domain-schema.ts';
import { type DomainRow, findDomain, listDomains } from './domain-store.ts';
import { toDomain } from './to-domain.ts';

/** Path parameters of everything below `/api/organizations/:organization_id/domains/:id`. */
export const domainParams = Type.Object({
  ...organizationParams.properties,
  id: Type.String({ format: 'uuid', description: 'Id (UUID) of the domain.' }),
});

/** Reading domains (docs/api-rules.md#ordered-routes, rows 3 and 5). */
export function domainRoutes({ sql }: Pick<Database, 'sql'>) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/domains',
      operationId: 'organizations_domains_list',
      summary: 'List the domains of an organization',
      description: 'The domains of one organization, by name.',
      tags: ['domains'],
      scope: 'organization:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of domains.', schema: offsetPageOf(domain) } },
      examples: { response: { count: 1, next: null, previous: null, results: [domainExample] } },
      target: addressedOrganization(sql),
      handler: async ({ target, query, request }) => {
        const { count, rows } = await listDomains(sql, target.organizationId, query);
        return offsetPage(request, query, { count, results: rows.map(toDomain) });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/domains/:id',
      operationId: 'organizations_domains_retrieve',
      summary: 'Read a domain',
      description: 'One domain of the organization.',
      tags: ['domains'],
      scope: 'organization:read',
      params: domainParams,
      responses: { 200: { description: 'The domain.', schema: domain } },
      examples: { response: domainExample },
      target: addressedOrganization(sql),
      handler: async ({ target, params }) =>
        toDomain(requireDomain(await findDomain(sql, target.organizationId, params.id))),
    }),
  ];
}

/** @throws AppError `not_found`. */
export function requireDomain(row: DomainRow | undefined): DomainRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}
