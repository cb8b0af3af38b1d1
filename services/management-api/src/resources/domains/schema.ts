// Domains as requests and answers have them.

import { enforcementOf, hasProofInTime, type Installed } from '@millrace/accounts';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import { organizationParams } from '../../access/addressed-organization.ts';
import { hasOidc, samlOf } from './own-provider.ts';
import type { DomainRow } from './store.ts';

const nullableText = (description: string, options: { maxLength?: number } = {}) =>
  Type.Union([Type.String(options), Type.Null()], { description });

const samlFields = {
  saml_entity_id: nullableText('Entity id of the SAML identity provider.', { maxLength: 512 }),
  saml_acs_url: nullableText('Address of the identity provider that takes sign-in requests.', { maxLength: 512 }),
  saml_x509_cert: nullableText(
    'Certificates of the identity provider (PEM or its base64 part). At most five, each of them once.',
  ),
};

const openIdFields = {
  oidc_issuer: nullableText('Issuer of the OpenID provider: the address below which its configuration lies.', {
    maxLength: 512,
  }),
  oidc_client_id: nullableText('Client id that the provider knows this installation by.', { maxLength: 512 }),
};
const ownerException =
  'Whether owners with a second factor may use their password although a provider is enforced. Each use is mailed and recorded.';

/** A domain of an organization, its fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const domain = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the domain.' }),
    domain: Type.String({
      description: 'The domain name, lower case; verified by at most one organization of the installation.',
    }),
    is_verified: Type.Boolean({ description: 'Whether the organization has proved that the domain is its own.' }),
    verified_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it was proved; null before.',
    }),
    verification_challenge: Type.String({
      description: 'What a TXT record named `_millrace-challenge.<domain>` must hold for `verify` to succeed.',
    }),
    jit_provisioning_enabled: Type.Boolean({ description: 'Whether people with such an address join by themselves.' }),
    sso_enforcement: Type.String({
      description: 'Sign-in method people with such an address must use; empty for any.',
    }),
    has_saml: Type.Boolean({ description: 'Whether all three `saml_*` fields are filled.' }),
    ...samlFields,
  },
  { title: 'Domain' },
);

/** Path parameters of everything below `/api/organizations/:organization_id/domains/:id`. */
export const domainParams = Type.Object({
  ...organizationParams.properties,
  id: Type.String({ format: 'uuid', description: 'Id (UUID) of the domain.' }),
});

/** How people with an address of a domain sign in: beside the domain, whose fields are those of PostHog's API. */
export const signOn = Type.Object(
  {
    saml_allow_unsolicited: Type.Boolean({
      description: 'Whether people may begin at the identity provider’s own page. They are asked once more here.',
    }),
    saml_problem: nullableText(
      'What is wrong with the `saml_*` fields, so that nobody can sign in by them; null for nothing.',
    ),
    saml_certificate_expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the last of the certificates ends; null where there is none.',
    }),
    ...openIdFields,
    has_oidc: Type.Boolean({ description: 'Whether the three `oidc_*` fields are filled. The secret is never shown.' }),
    sso_owner_exception: Type.Boolean({ description: ownerException }),
    sso_enforcement_state: Type.Enum(['off', 'no effect', 'waiting', 'active'], {
      description:
        'Whether `sso_enforcement` is in force: `waiting` until an administrator of the organization has signed in by that provider.',
    }),
    sso_enforcement_reason: Type.Union(
      [
        Type.Enum(['unknown_provider', 'feature_not_available', 'provider_not_configured', 'proof_missing']),
        Type.Null(),
      ],
      { description: 'Why it has no effect; null otherwise.' },
    ),
    proof_missing_since: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'Since when the daily check does not find the TXT record; null while it is there. After seven days the domain counts as not verified until the record is found again.',
    }),
  },
  { title: 'DomainSignOn' },
);

/** In the order of the answer: the first wrong field is the one reported. */
const writableSettings = {
  jit_provisioning_enabled: Type.Optional(
    Type.Boolean({ description: 'Needs a verified domain and the plan feature `automatic_provisioning`.' }),
  ),
  sso_enforcement: Type.Optional(
    Type.String({
      maxLength: 28,
      description:
        'Needs a verified domain. `google-oauth2`, `github`, `gitlab`, `saml`, `oidc`, or empty for any method.',
    }),
  ),
  saml_entity_id: Type.Optional(samlFields.saml_entity_id),
  saml_acs_url: Type.Optional(samlFields.saml_acs_url),
  saml_x509_cert: Type.Optional(samlFields.saml_x509_cert),
  scim_enabled: Type.Optional(
    Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether SCIM is on. Cannot be changed here: anything but the present state is refused with 400. Routes below `/scim` turn it on and off.',
    }),
  ),
};
const domainName = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'A domain or subdomain in lower case, e.g. `example.com`.',
});

export const newDomain = Type.Object({ domain: domainName, ...writableSettings }, { title: 'DomainToCreate' });
export const domainChanges = Type.Object(
  { domain: Type.Optional(domainName), ...writableSettings },
  { title: 'DomainChanges' },
);

export const signOnChanges = Type.Object(
  {
    saml_allow_unsolicited: Type.Optional(
      Type.Boolean({ description: 'Whether people may begin at the identity provider’s own page. Default false.' }),
    ),
    oidc_issuer: Type.Optional(openIdFields.oidc_issuer),
    oidc_client_id: Type.Optional(openIdFields.oidc_client_id),
    oidc_client_secret: Type.Optional(
      nullableText('Client secret; encrypted with SECRETS_KEY, and never shown again.', { maxLength: 1024 }),
    ),
    sso_owner_exception: Type.Optional(Type.Boolean({ description: ownerException })),
  },
  { title: 'DomainSignOnChanges' },
);

export const domainExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000d1',
  domain: 'example.com',
  is_verified: false,
  verified_at: null,
  verification_challenge: 'u3Vd0m9Jr1b8KcYw5hQ2sXe7LnPz4TfGaIoRxNqCvEk',
  jit_provisioning_enabled: false,
  sso_enforcement: '',
  has_saml: false,
  saml_entity_id: null,
  saml_acs_url: null,
  saml_x509_cert: null,
};

export const signOnExample = {
  saml_allow_unsolicited: false,
  saml_problem: null,
  saml_certificate_expires_at: null,
  oidc_issuer: null,
  oidc_client_id: null,
  has_oidc: false,
  sso_owner_exception: false,
  sso_enforcement_state: 'off',
  sso_enforcement_reason: null,
  proof_missing_since: null,
} as const;

/** As `verify` answers it: with what was asked, of whom, and what came back. */
export const checkedDomain = Type.Object(
  {
    ...domain.properties,
    check: Type.Object(
      {
        outcome: Type.Enum(['shown', 'not shown', 'no answer'], {
          description: 'Whether the challenge was found, was not there, or no name server said.',
        }),
        name: Type.String({ description: 'The name whose TXT records were asked for.' }),
        servers: Type.Array(Type.String(), { description: 'The name servers that were asked.' }),
        found: Type.Array(Type.String(), { description: 'The records that came back, at most 20.' }),
        error: nullableText('Why none came back, as the resolver says it, e.g. `ENOTFOUND`.'),
      },
      { description: 'What was asked, of whom, and what came back.' },
    ),
  },
  { title: 'CheckedDomain' },
);

export const checkedDomainExample = {
  ...domainExample,
  is_verified: true,
  verified_at: '2026-11-01T09:05:00Z',
  check: {
    outcome: 'shown',
    name: `_millrace-challenge.${domainExample.domain}`,
    servers: ['192.0.2.53'],
    found: [domainExample.verification_challenge],
    error: null,
  },
};

/** A domain as the API shows it. @param installed providers of the installation. */
export function toDomain(row: DomainRow, installed: Installed) {
  const saml = samlOf(row);
  const [has_saml, has_oidc] = [saml !== null, hasOidc(row)];
  const inForce = enforcementOf({ ...row, has_saml, has_oidc }, installed);
  const enforcement =
    inForce.state === 'off' || hasProofInTime(row, new Date())
      ? inForce
      : ({ state: 'no effect', reason: 'proof_missing' } as const);
  return {
    ...row,
    is_verified: row.verified_at !== null,
    verified_at: row.verified_at && formatDateTime(row.verified_at),
    has_saml,
    has_oidc,
    saml_problem: saml?.problem ?? null,
    saml_certificate_expires_at: saml?.expiresAt ? formatDateTime(saml.expiresAt) : null,
    sso_enforcement_state: enforcement.state,
    sso_enforcement_reason: 'reason' in enforcement ? enforcement.reason : null,
    proof_missing_since: row.proof_missing_since && formatDateTime(row.proof_missing_since),
  };
}
