import { randomUUID } from 'node:crypto';
import {
  clientSecretEncryptionContext,
  deleteDomainIdentities,
  type InstalledProviders,
  type LookUpChallenge,
  lockOrganization,
  splitSamlCertificates,
} from '@millrace/accounts';
import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import type { Caller, Membership } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import type { AccountMailing, DomainNotice } from '../sign-in/account-mailing.ts';
import type { SecretEncryption } from '../sign-in/secret-encryption.ts';
import {
  applyDomainChanges,
  changesSignIn,
  checkDomainName,
  domainTakenError,
  hasProvider,
  newVerificationChallenge,
  recordDomainActivity,
  refuseScimChange,
  requireOwnerIfOwnerUsesDomain,
} from './rules.ts';
import {
  checkedDomain,
  checkedDomainExample,
  domain,
  domainChanges,
  domainExample,
  domainParams,
  newDomain,
  signOn,
  signOnChanges,
  signOnExample,
  toDomain,
} from './schema.ts';
import {
  type DomainRow,
  deleteDomain,
  findDomain,
  hasScimToken,
  insertDomain,
  isNameTaken,
  listDomains,
  lockDomain,
  updateDomain,
} from './store.ts';
import { verifyDomain } from './verification.ts';

interface DomainRouteDeps extends Pick<Database, 'sql' | 'transaction'> {
  /** The installation's sign-in providers. */
  installedProviders: InstalledProviders;
  secretEncryption: SecretEncryption;
  accountMailing: AccountMailing;
}

export function domainRoutes({ sql, installedProviders }: Pick<DomainRouteDeps, 'sql' | 'installedProviders'>) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/domains',
      operationId: 'organizations_domains_list',
      summary: "List an organization's domains",
      description: 'Returns the domains of the organization, ordered by name.',
      tags: ['domains'],
      scope: 'organization:read',
      params: organizationParams,
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of domains.', schema: offsetPageSchema(domain) } },
      examples: { response: { count: 1, next: null, previous: null, results: [domainExample] } },
      target: addressedOrganization(sql),
      handler: async ({ target, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listDomains(sql, target.organizationId, window);
          return { count, results: rows.map((row) => toDomain(row, installedProviders)) };
        }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/domains/:id',
      operationId: 'organizations_domains_retrieve',
      summary: 'Show a domain',
      description: 'Returns one domain of the organization.',
      tags: ['domains'],
      scope: 'organization:read',
      params: domainParams,
      responses: { 200: { description: 'The domain.', schema: domain } },
      examples: { response: domainExample },
      target: addressedOrganization(sql),
      handler: async ({ target, params }) =>
        toDomain(requireDomain(await findDomain(sql, target.organizationId, params.id)), installedProviders),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/organizations/:organization_id/domains/:id/sign_on',
      operationId: 'organizations_domains_sign_on_retrieve',
      summary: "Show a domain's sign-in settings",
      description:
        'Returns how users with an address in the domain sign in. The response contains the identity provider settings that ' +
        'are not part of the domain itself, and whether `sso_enforcement` is in effect.',
      tags: ['domains'],
      scope: 'organization:read',
      params: domainParams,
      responses: { 200: { description: 'The sign-in settings.', schema: signOn } },
      examples: { response: signOnExample },
      target: addressedOrganization(sql),
      handler: async ({ target, params }) =>
        toDomain(requireDomain(await findDomain(sql, target.organizationId, params.id)), installedProviders),
    }),
  ];
}

function requireDomain(row: DomainRow | undefined): DomainRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}

export function domainWriteRoutes({
  sql,
  transaction,
  installedProviders,
  secretEncryption,
  accountMailing,
}: DomainRouteDeps) {
  const sealed = <T extends { oidc_client_secret?: string | null }>(id: string, body: T): T =>
    body.oidc_client_secret
      ? {
          ...body,
          oidc_client_secret: secretEncryption.seal(body.oidc_client_secret, clientSecretEncryptionContext(id)),
        }
      : body;

  async function change(
    { caller, member, id }: { caller: Caller; member: Membership; id: string },
    { scim_enabled: withScim, ...wanted }: Parameters<typeof applyDomainChanges>[1] & { scim_enabled?: boolean | null },
  ): Promise<DomainRow> {
    const { before, after } = await transaction(async (tx) => {
      const { available_product_features: features } = await lockOrganization(tx, member.organizationId);
      const before = requireDomain(await lockDomain(tx, member.organizationId, id));
      if (withScim !== undefined) refuseScimChange(withScim, await hasScimToken(tx, before.id));
      const mayProvision = hasPlanFeature(features, 'automatic_provisioning');
      const after = applyDomainChanges(before, sealed(before.id, wanted), mayProvision);
      if (changesSignIn(before, after)) await requireOwnerIfOwnerUsesDomain(tx, member, before.domain, after.domain);
      if ((await isNameTaken(tx, after)) || !(await updateDomain(tx, after))) throw domainTakenError();
      // Identities are linked to the old domain name. At the new name's provider, the same identifiers may belong to
      // different people.
      if (after.domain !== before.domain) await deleteDomainIdentities(tx, before.id);
      await recordDomainActivity(tx, caller, { activity: 'updated', before, after });
      return { before, after };
    });
    for (const notice of noticesOf(toDomain(before, installedProviders), toDomain(after, installedProviders))) {
      accountMailing.notifyAdministrators(after, notice);
    }
    return after;
  }

  return [
    defineRoute({
      method: 'PATCH',
      path: '/api/organizations/:organization_id/domains/:id/sign_on',
      operationId: 'organizations_domains_sign_on_partial_update',
      summary: "Change a domain's sign-in settings",
      description:
        'Changes the fields that are sent. If you change a provider, its earlier sign-ins no longer prove that the provider works. If that provider is enforced, enforcement waits until an administrator signs in through the provider again.',
      tags: ['domains'],
      scope: 'organization:write',
      isSensitive: true,
      params: domainParams,
      body: signOnChanges,
      responses: { 200: { description: 'The updated sign-in settings.', schema: signOn } },
      examples: { request: { sso_owner_exception: true }, response: { ...signOnExample, sso_owner_exception: true } },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ caller, target, params, body }) =>
        toDomain(await change({ caller, member: target, id: params.id }, body), installedProviders),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/organizations/:organization_id/domains',
      operationId: 'organizations_domains_create',
      summary: 'Add a domain',
      description:
        'Adds an unverified domain. Until one organization has verified the name, other organizations can add it too. ' +
        '`jit_provisioning_enabled` and `sso_enforcement` have no effect here; set them once the domain is verified.',
      tags: ['domains'],
      scope: 'organization:write',
      isSensitive: true,
      params: organizationParams,
      body: newDomain,
      responses: { 201: { description: 'The new domain.', schema: domain } },
      examples: { request: { domain: 'example.com' }, response: domainExample },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ caller, target, body }) => {
        checkDomainName(body.domain);
        refuseScimChange(body.scim_enabled, false);
        if (body.saml_x509_cert) splitSamlCertificates(body.saml_x509_cert);
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
          // Lock the organization, so that concurrent requests cannot add the same name twice.
          await lockOrganization(tx, target.organizationId);
          if (hasProvider(row)) await requireOwnerIfOwnerUsesDomain(tx, target, row.domain);
          if (await isNameTaken(tx, row)) throw domainTakenError();
          // If another organization inserts the name concurrently, the first attempt fails. The second attempt sees the
          // other organization's row.
          const created = (await insertDomain(tx, row)) ?? (await insertDomain(tx, row));
          if (!created) throw domainTakenError();
          await recordDomainActivity(tx, caller, { activity: 'created', after: created });
          return toDomain(created, installedProviders);
        });
      },
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      defineRoute({
        method,
        path: '/api/organizations/:organization_id/domains/:id',
        operationId: method === 'PUT' ? 'organizations_domains_update' : 'organizations_domains_partial_update',
        summary: method === 'PUT' ? 'Replace a domain' : 'Change a domain',
        description:
          'Changes the fields that are sent. If you change the name, the domain gets a new challenge and must be verified ' +
          'again, and the settings that need a verified domain are reset.',
        tags: ['domains'],
        scope: 'organization:write',
        isSensitive: true,
        params: domainParams,
        body: method === 'PUT' ? newDomain : domainChanges,
        responses: { 200: { description: 'The updated domain.', schema: domain } },
        examples: {
          request: { domain: 'example.com', sso_enforcement: 'saml' },
          response: { ...domainExample, sso_enforcement: 'saml' },
        },
        level: membershipLevels.administrator,
        target: addressedOrganization(sql),
        handler: async ({ caller, target, params, body }) =>
          toDomain(await change({ caller, member: target, id: params.id }, body), installedProviders),
      }),
    ),
    defineRoute({
      method: 'DELETE',
      path: '/api/organizations/:organization_id/domains/:id',
      operationId: 'organizations_domains_destroy',
      summary: 'Delete a domain',
      description: 'Deletes the domain. Any organization can then add and verify the name.',
      tags: ['domains'],
      scope: 'organization:write',
      isSensitive: true,
      params: domainParams,
      responses: { 204: { description: 'Deleted.' } },
      level: membershipLevels.administrator,
      target: addressedOrganization(sql),
      handler: async ({ caller, target, params }) =>
        transaction(async (tx) => {
          const before = requireDomain(await deleteDomain(tx, target.organizationId, params.id));
          if (before.verified_at !== null) await requireOwnerIfOwnerUsesDomain(tx, target, before.domain);
          await recordDomainActivity(tx, caller, { activity: 'deleted', before });
          return undefined;
        }),
    }),
  ];
}

/** Returns the notices to send to the organization's administrators after a domain has changed. */
function noticesOf(before: ReturnType<typeof toDomain>, after: ReturnType<typeof toDomain>): DomainNotice[] {
  const states = { waiting: 'sso_waiting', active: 'sso_active', off: 'sso_off', 'no effect': null } as const;
  const isSame = before.sso_enforcement_state === after.sso_enforcement_state;
  const state = isSame ? null : states[after.sso_enforcement_state];
  const isExcepted = after.sso_owner_exception && !before.sso_owner_exception;
  return [...(state === null ? [] : [state]), ...(isExcepted ? (['owner_exception'] as const) : [])];
}

interface VerifyDomainDeps
  extends Pick<DomainRouteDeps, 'sql' | 'transaction' | 'installedProviders' | 'accountMailing'> {
  lookUpChallenge: LookUpChallenge;
}

export function verifyDomainRoute(deps: VerifyDomainDeps) {
  const { sql, transaction, lookUpChallenge, installedProviders, accountMailing } = deps;
  return defineRoute({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/:id/verify',
    operationId: 'organizations_domains_verify_create',
    summary: 'Verify a domain',
    description:
      'Looks up the TXT record `_millrace-challenge.<domain>` and compares it with the challenge. Returns 200 whether ' +
      "or not the record was found. To see the result, read the domain's `is_verified` field, or send `Prefer: " +
      'return=representation`. The response then also contains `check`, with the DNS query and its result.',
    tags: ['domains'],
    scope: 'organization:write',
    isSensitive: true,
    params: domainParams,
    responses: { 200: { description: 'The check was carried out.', schema: checkedDomain, onlyIfPreferred: true } },
    examples: { response: checkedDomainExample },
    level: membershipLevels.administrator,
    target: addressedOrganization(sql),
    handler: async ({ caller, target, params }) => {
      const { row, check, lost } = await verifyDomain({ sql, transaction }, lookUpChallenge, {
        organizationId: target.organizationId,
        id: params.id,
        onVerified: async (tx, before, after) => {
          // Verifying the domain activates provider settings that are already stored.
          if (hasProvider(after)) await requireOwnerIfOwnerUsesDomain(tx, target, after.domain);
          await recordDomainActivity(tx, caller, { activity: 'updated', before, after });
        },
      });
      if (lost) accountMailing.notifyAdministrators(lost, 'domain_lost');
      return { ...toDomain(row, installedProviders), check };
    },
  });
}
