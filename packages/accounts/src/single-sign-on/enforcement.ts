/** Determines which provider a domain's users must use (docs/api/single-sign-on.md). */

import { domainToASCII } from 'node:url';
import { hasPlanFeature } from '@millrace/contracts';
import { type AddressDomain, type ProviderKind, providerKinds } from '../sign-in/provider-store.ts';

/**
 * Returns the domain of an email address in the form of `organization_domain`, where Punycode (`xn--`) replaces
 * characters outside ASCII.
 */
export function parseEmailDomain(email: string): string {
  return domainToASCII(email.slice(email.lastIndexOf('@') + 1)).toLowerCase();
}

/**
 * Returns the provider that users of the domain must sign in through, or null if they can use any provider. Enforcement
 * takes effect only after an administrator has signed in through the provider, so that a mistake does not lock everyone
 * out.
 * @param installedProviders kinds of providers that the installation has
 */
export function getEnforcedProvider(
  domain: EnforcingDomain,
  installedProviders: InstalledProviders,
): ProviderKind | null {
  const state = findEnforcement(domain, installedProviders);
  return state.state === 'active' ? state.kind : null;
}

export type EnforcingDomain = Pick<
  AddressDomain,
  'sso_enforcement' | 'sso_proved' | 'features' | 'has_saml' | 'has_oidc'
>;
/** The installation's identity providers. Every domain can use them. */
export type InstalledProviders = Pick<ReadonlySet<ProviderKind>, 'has'>;

/** Whether a domain's `sso_enforcement` takes effect, and the reason if it does not. */
export type Enforcement =
  | { state: 'off' }
  | { state: 'no effect'; reason: 'unknown_provider' | 'feature_not_available' | 'provider_not_configured' }
  | { state: 'waiting' | 'active'; kind: ProviderKind };

export function findEnforcement(domain: EnforcingDomain, installedProviders: InstalledProviders): Enforcement {
  if (domain.sso_enforcement === '') return { state: 'off' };
  const kind = providerKinds.find((known) => known === domain.sso_enforcement);
  if (kind === undefined) return { state: 'no effect', reason: 'unknown_provider' };
  const features = kind === 'saml' ? (['sso_enforcement', 'saml'] as const) : (['sso_enforcement'] as const);
  if (!features.every((feature) => hasPlanFeature(domain.features, feature))) {
    return { state: 'no effect', reason: 'feature_not_available' };
  }
  if (!hasOwn(domain, kind) && !installedProviders.has(kind))
    return { state: 'no effect', reason: 'provider_not_configured' };
  return { state: domain.sso_proved.includes(kind) ? 'active' : 'waiting', kind };
}

const hasOwn = (domain: EnforcingDomain, kind: ProviderKind): boolean =>
  kind === 'saml' ? domain.has_saml : kind === 'oidc' && domain.has_oidc;

/**
 * Returns whether a domain uses this provider. If a domain has its own provider of a kind, that provider replaces the
 * installation's.
 * @param provider `domainId` is null for a provider of the installation
 */
export function isDomainProvider(
  domain: EnforcingDomain & Pick<AddressDomain, 'id'>,
  kind: ProviderKind,
  provider: { kind: ProviderKind; domainId: string | null },
): boolean {
  return provider.kind === kind && provider.domainId === (hasOwn(domain, kind) ? domain.id : null);
}
