import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { addressedOrganization } from '../../access/addressed-organization.ts';
import { defineRoute } from '../../access/define-route.ts';
import { domainParams } from './domain-routes.ts';
import { domain, domainExample } from './domain-schema.ts';
import type { LookUpChallenge } from './look-up-challenge.ts';
import { recordDomainActivity } from './record-domain-activity.ts';
import { toDomain } from './to-domain.ts';
import { verifyDomain } from './verify-domain.ts';

export interface VerifyDomainDeps extends Pick<Database, 'sql' | 'transaction'> {
  lookUpChallenge: LookUpChallenge;
}

/** Proving that a domain is the organization's own (docs/api-rules.md#ordered-routes, row 8). */
export function verifyDomainRoute({ sql, transaction, lookUpChallenge }: VerifyDomainDeps) {
  return defineRoute({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/:id/verify',
    operationId: 'organizations_domains_verify_create',
    summary: 'Verify a domain',
    description:
      'Looks for a TXT record `_millrace-challenge.<domain>` that holds the challenge. Answers 200 whether or not it is there: read the domain to see `is_verified`, or ask for it with `Prefer: return=representation`.',
    tags: ['domains'],
    scope: 'organization:write',
    params: domainParams,
    responses: { 200: { description: 'The check was made.', schema: domain, onlyIfPreferred: true } },
    examples: { response: { ...domainExample, is_verified: true, verified_at: '2026-11-01T09:05:00Z' } },
    level: membershipLevels.administrator,
    target: addressedOrganization(sql),
    handler: async ({ caller, target, params }) =>
      toDomain(
        await verifyDomain({ sql, transaction }, lookUpChallenge, {
          organizationId: target.organizationId,
          id: params.id,
          onVerified: (tx, before, after) => recordDomainActivity(tx, caller, { activity: 'updated', before, after }),
        }),
      ),
  });
}
