import { randomUUID } from 'node:crypto';
import { lockOrganization } from '@millrace/accounts';
import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { defineRoute } from '../../access/define-route.ts';
import { changeDomain } from './change-domain.ts';
import { checkDomainName, domainIsTaken, newVerificationChallenge } from './domain-name.ts';
import { domainParams, requireDomain } from './domain-routes.ts';
import { domain, domainChanges, domainExample, newDomain } from './domain-schema.ts';
import { deleteDomain, insertDomain, isNameTaken, lockDomain, updateDomain } from './domain-store.ts';
import { recordDomainActivity } from './record-domain-activity.ts';
import { toDomain } from './to-domain.ts';

/** Creating, changing and removing domains (docs/api-rules.md#ordered-routes, rows 4, 6 and 7). */
export function domainWriteRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/organizations/:organization_id/domains',
      operationId: 'organizations_domains_create',
      summary: 'Add a domain',
      description:
        'Adds a domain, not yet verified; the same name may be added by others until one has verified it. `jit_provisioning_enabled` and `sso_enforcement` only count later, once it is.',
      tags: ['domains'],
      scope: 'organization:write',
      params: organizationParams,
      body: newDomain,
      responses: { 201: { description: 'The domain.', schema: domain } },
      examples: { request: { domain: 'example.com' }, response: domainExample },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ caller, target, body }) => {
        checkDomainName(body.domain);
        const row = {
          id: randomUUID(),
          organization_id: target.organizationId,
          domain: body.domain,
          verification_challenge: newVerificationChallenge(),
          saml_entity_id: body.saml_entity_id ?? null,
          saml_acs_url: body.saml_acs_url ?? null,
          saml_x509_cert: body.saml_x509_cert ?? null,
        };
        return transaction(async (tx) => {
          // Of one organization names are added one after the other.
          await lockOrganization(tx, target.organizationId);
          if (await isNameTaken(tx, row)) throw domainIsTaken();
          // A name that was added elsewhere just now is there when it is looked for again.
          const created = (await insertDomain(tx, row)) ?? (await insertDomain(tx, row));
          if (!created) throw domainIsTaken();
          await recordDomainActivity(tx, caller, { activity: 'created', after: created });
          return toDomain(created);
        });
      },
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      defineRoute({
        method,
        path: '/api/organizations/:organization_id/domains/:id',
        operationId: method === 'PUT' ? 'organizations_domains_update' : 'organizations_domains_partial_update',
        summary: method === 'PUT' ? 'Write a domain' : 'Change a domain',
        description:
          'Changes the given fields. Another name has to be verified again, with a new challenge, and loses the settings that need a verified domain.',
        tags: ['domains'],
        scope: 'organization:write',
        params: domainParams,
        body: method === 'PUT' ? newDomain : domainChanges,
        responses: { 200: { description: 'The domain.', schema: domain } },
        examples: {
          request: { domain: 'example.com', sso_enforcement: 'saml' },
          response: { ...domainExample, sso_enforcement: 'saml' },
        },
        level: membershipLevels.administrator,
        target: addressedOrganization(sql),
        handler: async ({ caller, target, params, body }) =>
          transaction(async (tx) => {
            const { available_product_features: features } = await lockOrganization(tx, target.organizationId);
            const before = requireDomain(await lockDomain(tx, target.organizationId, params.id));
            const after = changeDomain(before, body, hasPlanFeature(features, 'automatic_provisioning'));
            if ((await isNameTaken(tx, after)) || !(await updateDomain(tx, after))) throw domainIsTaken();
            await recordDomainActivity(tx, caller, { activity: 'updated', before, after });
            return toDomain(after);
          }),
      }),
    ),
    defineRoute({
      method: 'DELETE',
      path: '/api/organizations/:organization_id/domains/:id',
      operationId: 'organizations_domains_destroy',
      summary: 'Remove a domain',
      description: 'Removes the domain; its name is free for anybody then.',
      tags: ['domains'],
      scope: 'organization:write',
      params: domainParams,
      responses: { 204: { description: 'Removed.' } },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ caller, target, params }) =>
        transaction(async (tx) => {
          const before = requireDomain(await deleteDomain(tx, target.organizationId, params.id));
          await recordDomainActivity(tx, caller, { activity: 'deleted', before });
          return undefined;
        }),
    }),
  ];
}
