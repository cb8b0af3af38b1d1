// Determines how users with an email address in a domain can sign in (docs/api/single-sign-on.md).

import {
  type AddressDomain,
  findAddressDomain,
  findMembership,
  findSecondFactors,
  getEnforcedProvider,
  type InstalledProviders,
  type ProviderKind,
  parseEmailAddress,
  parseEmailDomain,
  requiresSecondFactor,
} from '@millrace/accounts';
import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';

const providerNames: Record<ProviderKind, string> = {
  'google-oauth2': 'Google',
  github: 'GitHub',
  gitlab: 'GitLab',
  saml: 'SAML',
  oidc: 'OpenID Connect',
};

export interface EnforcementDeps {
  sql: Sql;
  /** The installation's sign-in providers. */
  installedProviders: InstalledProviders;
}

/**
 * Returns the domain of an email address, and the provider that the domain enforces. Returns null if the domain does
 * not enforce a provider.
 */
export async function findEnforcedProvider(
  { sql, installedProviders }: EnforcementDeps,
  email: string,
): Promise<{ domain: AddressDomain; kind: ProviderKind } | null> {
  const domain = await findAddressDomain(sql, parseEmailDomain(email));
  const kind = domain ? getEnforcedProvider(domain, installedProviders) : null;
  return domain && kind !== null ? { domain, kind } : null;
}

/**
 * Returns the sign-in methods for an email address. The result does not depend on whether an account with this address
 * exists.
 * @param hasPublicUrl whether the installation has the URL that providers need (`requirePublicUrl`)
 */
export async function findSignInMethods(
  { sql, installedProviders }: EnforcementDeps,
  { email, hasPublicUrl }: { email: string; hasPublicUrl: boolean },
) {
  const account = parseEmailAddress(email);
  const domain = account === null ? undefined : await findAddressDomain(sql, parseEmailDomain(account));
  const kind = domain ? getEnforcedProvider(domain, installedProviders) : null;
  const others = (['google-oauth2', 'github', 'gitlab'] as const).filter((other) => installedProviders.has(other));
  const only = (other: ProviderKind) => hasPublicUrl && (kind === null || kind === other);
  return {
    password_login_available: kind === null || domain?.sso_owner_exception === true,
    sso_enforcement: kind,
    saml_available: domain?.has_saml === true && hasPlanFeature(domain.features, 'saml') && only('saml'),
    oidc_available: (domain?.has_oidc === true || installedProviders.has('oidc')) && only('oidc'),
    social_providers: Object.fromEntries(others.map((other) => [other, only(other)])),
  };
}

/**
 * Rejects a sign-in method if a provider is enforced for the email address.
 * @throws AppError `invalid` with code `sso_enforced`, or with the given code
 */
export async function rejectEnforced(
  deps: EnforcementDeps,
  email: string,
  { code = 'sso_enforced', attr }: { code?: string; attr?: string } = {},
): Promise<void> {
  const enforced = await findEnforcedProvider(deps, email);
  if (enforced !== null) throw createSsoEnforcedError(enforced.kind, { code, attr });
}

export function createSsoEnforcedError(
  kind: ProviderKind,
  { code = 'sso_enforced', attr }: { code?: string; attr?: string | undefined } = {},
): AppError {
  return new AppError(
    'invalid',
    `Users with an email address in this domain can sign in only with single sign-on (${providerNames[kind]}).`,
    {
      code,
      ...(attr !== undefined && { attr }),
    },
  );
}

/**
 * Returns true if a user can sign in by password although a provider is enforced. This applies only to owners with a
 * second factor, and only if their organization allows it.
 */
export async function isExemptOwner(sql: Sql, domain: AddressDomain, userId: number): Promise<boolean> {
  if (!domain.sso_owner_exception) return false;
  const member = await findMembership(sql, { organizationId: domain.organization_id, userId });
  return member?.level === membershipLevels.owner && requiresSecondFactor(await findSecondFactors(sql, userId));
}
