// Validates domain names and domain changes, and records domain activity.

import { randomBytes } from 'node:crypto';
import {
  type Activity,
  hasOwnerAddress,
  providerKinds,
  recordActivity,
  splitSamlCertificates,
} from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { Caller, Membership } from '../../access/caller.ts';
import type { domainChanges, signOnChanges } from './schema.ts';
import type { DomainRow } from './store.ts';

type Changes = Omit<Static<typeof domainChanges>, 'scim_enabled'> & Static<typeof signOnChanges>;

/**
 * Applies a PATCH request to a domain (docs/api/domains.md). A new name requires a new verification. PostHog keeps the
 * old verification, which allows an organization to claim any domain.
 * @param mayProvision whether the organization's plan includes automatic provisioning
 * @throws AppError `invalid` naming the field: `verification_required`, `feature_not_available`, `invalid_choice`,
 *   `invalid_certificate`, `required`, or a name or issuer that is not valid
 */
export function applyDomainChanges(row: DomainRow, changes: Changes, mayProvision: boolean): DomainRow {
  if (changes.domain !== undefined) checkDomainName(changes.domain);
  if (row.verified_at === null) refuseUntilVerified(changes);
  if (changes.jit_provisioning_enabled === true && !mayProvision) {
    throw new AppError('invalid', 'Automatic provisioning is not enabled for this organization.', {
      code: 'feature_not_available',
      attr: 'jit_provisioning_enabled',
    });
  }
  if (changes.sso_enforcement && !providerKinds.some((kind) => kind === changes.sso_enforcement)) {
    throw new AppError('invalid', `"${changes.sso_enforcement}" is not a valid choice: ${providerKinds.join(', ')}.`, {
      code: 'invalid_choice',
      attr: 'sso_enforcement',
    });
  }
  if (changes.oidc_issuer) checkIssuer(changes.oidc_issuer);
  if (changes.saml_x509_cert) splitSamlCertificates(changes.saml_x509_cert);
  requireSecretOfIssuer(row, changes);
  const changed = { ...row, ...changes };
  return changed.domain === row.domain ? keepProofsOfUnchangedProviders(row, changed) : withoutVerification(changed);
}

/**
 * Rejects a change to `scim_enabled`. SCIM needs a token, so separate routes turn SCIM on and off.
 * @param isOn whether SCIM is currently on
 * @throws AppError `invalid` naming `scim_enabled` if the request would change it
 */
export function refuseScimChange(requestedState: boolean | null | undefined, isOn: boolean): void {
  if (requestedState === undefined || requestedState === null || requestedState === isOn) return;
  const detail = requestedState
    ? '`scim_enabled` cannot be changed here. To turn SCIM on, send POST /api/organizations/:organization_id/domains/:id/scim/.'
    : '`scim_enabled` cannot be changed here. To turn SCIM off, send POST /api/organizations/:organization_id/domains/:id/scim/disable/.';
  throw new AppError('invalid', detail, { code: 'unsupported_field', attr: 'scim_enabled' });
}

function checkIssuer(issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : null;
  const isPlain = url && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (isPlain && url.protocol === 'https:') return;
  throw new AppError(
    'invalid',
    'Enter an https URL without a query, fragment or credentials, such as https://login.example.com.',
    {
      code: 'invalid_input',
      attr: 'oidc_issuer',
    },
  );
}

/**
 * Requires a new client secret if the issuer changes. Otherwise, the next sign-in would send the old issuer's secret to
 * the new issuer.
 * @throws AppError `invalid` naming `oidc_client_secret`
 */
function requireSecretOfIssuer(row: DomainRow, { oidc_issuer: issuer, oidc_client_secret: secret }: Changes): void {
  if (!issuer || issuer === row.oidc_issuer || !row.oidc_client_secret || secret !== undefined) return;
  throw new AppError('invalid', '`oidc_client_secret` is required when `oidc_issuer` changes.', {
    code: 'required',
    attr: 'oidc_client_secret',
  });
}

/**
 * Keeps a provider in `sso_proved` only if its settings did not change. A successful sign-in with the old settings does
 * not prove that the new ones work.
 */
function keepProofsOfUnchangedProviders(before: DomainRow, after: DomainRow): DomainRow {
  const isSame = (fields: readonly (keyof DomainRow)[]) => fields.every((field) => before[field] === after[field]);
  const isUnchanged = {
    saml: isSame(['saml_entity_id', 'saml_acs_url', 'saml_x509_cert']),
    oidc: isSame(['oidc_issuer', 'oidc_client_id', 'oidc_client_secret']),
  };
  return {
    ...after,
    sso_proved: after.sso_proved.filter((kind) => isUnchanged[kind as keyof typeof isUnchanged] ?? true),
  };
}

const providerFields = [
  'saml_entity_id',
  'saml_acs_url',
  'saml_x509_cert',
  'oidc_issuer',
  'oidc_client_id',
  'oidc_client_secret',
] as const satisfies (keyof DomainRow)[];
const signInFields = [
  ...providerFields,
  'saml_allow_unsolicited',
  'sso_enforcement',
  'sso_owner_exception',
] as const satisfies (keyof DomainRow)[];

export const hasProvider = (row: Partial<DomainRow>): boolean => providerFields.some((field) => row[field]);

/**
 * Returns true if a change affects sign-in. A new domain name affects sign-in if the domain is verified or has a
 * provider.
 */
export function changesSignIn(before: DomainRow, after: DomainRow): boolean {
  if (signInFields.some((field) => before[field] !== after[field])) return true;
  return before.domain !== after.domain && (before.verified_at !== null || hasProvider(before));
}

/**
 * Requires that the caller is an owner if any owner has an email address in the domain. Otherwise, an administrator
 * could change the domain's sign-in settings to sign in as that owner (docs/api/domains.md).
 * @param level the caller's level in the organization
 * @throws AppError `forbidden`
 */
export async function requireOwnerIfOwnerUsesDomain(
  sql: Sql,
  { organizationId, level }: Membership,
  ...domains: readonly string[]
): Promise<void> {
  if (level >= membershipLevels.owner || !(await hasOwnerAddress(sql, { organizationId, domains }))) return;
  throw new AppError(
    'forbidden',
    "Only an owner can change how users sign in with this domain, because an owner's email address is in it.",
  );
}

function refuseUntilVerified(changes: Changes): void {
  const field = (['jit_provisioning_enabled', 'sso_enforcement', 'sso_owner_exception'] as const).find(
    (name) => changes[name] !== undefined,
  );
  if (field === undefined) return;
  throw new AppError('invalid', 'This attribute cannot be updated until the domain is verified.', {
    code: 'verification_required',
    attr: field,
  });
}

export function withoutVerification(row: DomainRow): DomainRow {
  return {
    ...row,
    verified_at: null,
    verification_challenge: newVerificationChallenge(),
    jit_provisioning_enabled: false,
    sso_enforcement: '',
    sso_owner_exception: false,
    sso_proved: [],
  };
}

/**
 * Matches a domain name: at least two labels of letters, digits and single hyphens. The prefix `xn--` begins the ASCII
 * form of an internationalized label.
 */
const domainPattern = /^(?:(?:xn--)?[a-z0-9]+(?:-[a-z0-9]+)*\.)+(?:[a-z]{2,}|xn--[a-z0-9]+(?:-[a-z0-9]+)*)$/;

/**
 * Validates a domain name. Unlike PostHog, accepts punycode.
 * @throws AppError `invalid` naming `domain` (docs/api/domains.md)
 */
export function checkDomainName(name: string): void {
  if (domainPattern.test(name)) return;
  throw new AppError('invalid', 'Please enter a valid domain or subdomain name.', {
    code: 'invalid_input',
    attr: 'domain',
  });
}

export function domainTakenError(): AppError {
  return new AppError('invalid', 'domain with this domain already exists.', { code: 'unique', attr: 'domain' });
}

/** Returns 43 random characters that are valid in a TXT record. */
export function newVerificationChallenge(): string {
  return randomBytes(32).toString('base64url');
}

/** Fields whose contents are not recorded in the activity log. */
const secret = ['verification_challenge', 'saml_x509_cert', 'oidc_client_secret'];

export async function recordDomainActivity(
  tx: Transaction,
  actor: Caller | null,
  { activity, before, after }: Pick<Activity, 'activity'> & { before?: DomainRow; after?: DomainRow },
): Promise<void> {
  const row = after ?? before;
  if (!row) return;
  await recordActivity(tx, {
    organizationId: row.organization_id,
    scope: 'OrganizationDomain',
    itemId: row.id,
    activity,
    actor,
    name: row.domain,
    ...(before && after && { change: { before, after, secret } }),
  });
}
