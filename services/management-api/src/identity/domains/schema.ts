import { findEnforcement, hasProofInTime, type InstalledProviders } from '@millrace/accounts';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import { organizationParams } from '../../access/addressed-organization.ts';
import { checkSamlProvider, hasOidc } from './own-provider.ts';
import type { DomainRow } from './store.ts';

const nullableText = (description: string, options: { maxLength?: number } = {}) =>
  Type.Union([Type.String(options), Type.Null()], { description });

const samlFields = {
  saml_entity_id: nullableText('Entity ID of the SAML identity provider.', { maxLength: 512 }),
  saml_acs_url: nullableText('Sign-on URL of the SAML identity provider.', { maxLength: 512 }),
  saml_x509_cert: nullableText(
    "The identity provider's certificates, either in PEM format or only the Base64 part. At most five, without duplicates.",
  ),
};

const openIdFields = {
  oidc_issuer: nullableText(
    'Issuer URL of the OpenID Connect provider. The provider publishes its configuration document under this URL.',
    {
      maxLength: 512,
    },
  ),
  oidc_client_id: nullableText('Client ID of this installation at the OpenID Connect provider.', { maxLength: 512 }),
};
const ownerException =
  'Whether owners with a second factor can still sign in with their password while a provider is enforced. Each ' +
  'use is reported by email and recorded in the activity log.';

/** An organization's domain, with fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const domain = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the domain.' }),
    domain: Type.String({
      description:
        'Domain name in lower case. Only one organization of the installation can have a verified domain with this name.',
    }),
    is_verified: Type.Boolean({ description: 'Whether the organization has proved that it controls the domain.' }),
    verified_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the domain was verified; null if it has not been verified.',
    }),
    verification_challenge: Type.String({
      description: 'Value that the TXT record `_millrace-challenge.<domain>` must have for `verify` to succeed.',
    }),
    jit_provisioning_enabled: Type.Boolean({
      description:
        'Whether users with an address in this domain automatically become members of the organization when they sign in.',
    }),
    sso_enforcement: Type.String({
      description: 'Sign-in method that users with an address in this domain must use; empty if they can use any.',
    }),
    has_saml: Type.Boolean({ description: 'Whether all three `saml_*` fields are set.' }),
    ...samlFields,
  },
  { title: 'Domain' },
);

export const domainParams = Type.Object({
  ...organizationParams.properties,
  id: Type.String({ format: 'uuid', description: 'ID (UUID) of the domain.' }),
});

/**
 * Describes how users with an email address in the domain sign in. This is a separate response, because a domain
 * response has only the fields of PostHog's API.
 */
export const signOn = Type.Object(
  {
    saml_allow_unsolicited: Type.Boolean({
      description:
        "Whether users can start to sign in from the identity provider's page. Millrace then asks them to confirm the " +
        'sign-in.',
    }),
    saml_problem: nullableText(
      'Error in the `saml_*` fields that prevents users from signing in; null if no error was found.',
    ),
    saml_certificate_expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the last remaining SAML certificate expires, or null if no certificate is set.',
    }),
    ...openIdFields,
    has_oidc: Type.Boolean({
      description: 'Whether all three `oidc_*` fields are set. The client secret is never returned.',
    }),
    sso_owner_exception: Type.Boolean({ description: ownerException }),
    sso_enforcement_state: Type.Enum(['off', 'no effect', 'waiting', 'active'], {
      description:
        'Whether `sso_enforcement` is in effect. If `waiting`, it takes effect once an administrator of the organization ' +
        'has signed in through that provider.',
    }),
    sso_enforcement_reason: Type.Union(
      [
        Type.Enum(['unknown_provider', 'feature_not_available', 'provider_not_configured', 'proof_missing']),
        Type.Null(),
      ],
      { description: 'Reason why `sso_enforcement` has no effect. Null in all other states.' },
    ),
    proof_missing_since: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'Time since which the daily check has not found the TXT record, or null if the record is in place. After seven days without the record, the domain is treated as unverified until the record is found again.',
    }),
  },
  { title: 'DomainSignOn' },
);

/** The fields are in response order, because this order determines which invalid field is reported first. */
const writableSettings = {
  jit_provisioning_enabled: Type.Optional(
    Type.Boolean({
      description:
        'Whether users with an address in this domain automatically become members. Requires a verified domain and the ' +
        'plan feature `automatic_provisioning`.',
    }),
  ),
  sso_enforcement: Type.Optional(
    Type.String({
      maxLength: 28,
      description:
        'Sign-in method that users must use: `google-oauth2`, `github`, `gitlab`, `saml` or `oidc`; empty allows any ' +
        'method. Requires a verified domain.',
    }),
  ),
  saml_entity_id: Type.Optional(samlFields.saml_entity_id),
  saml_acs_url: Type.Optional(samlFields.saml_acs_url),
  saml_x509_cert: Type.Optional(samlFields.saml_x509_cert),
  scim_enabled: Type.Optional(
    Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether SCIM is on. SCIM can only be turned on and off with the routes below `/scim`. A value that differs from ' +
        'the current state is rejected with 400.',
    }),
  ),
};
const domainName = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Domain or subdomain in lower case, for example `example.com`.',
});

export const newDomain = Type.Object({ domain: domainName, ...writableSettings }, { title: 'DomainToCreate' });
export const domainChanges = Type.Object(
  { domain: Type.Optional(domainName), ...writableSettings },
  { title: 'DomainChanges' },
);

export const signOnChanges = Type.Object(
  {
    saml_allow_unsolicited: Type.Optional(
      Type.Boolean({
        description: "Whether users can start to sign in from the identity provider's page. Defaults to false.",
      }),
    ),
    oidc_issuer: Type.Optional(openIdFields.oidc_issuer),
    oidc_client_id: Type.Optional(openIdFields.oidc_client_id),
    oidc_client_secret: Type.Optional(
      nullableText(
        'Client secret of this installation at the OpenID Connect provider. It is encrypted with SECRETS_KEY and never ' +
          'returned.',
        { maxLength: 1024 },
      ),
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

export const checkedDomain = Type.Object(
  {
    ...domain.properties,
    check: Type.Object(
      {
        outcome: Type.Enum(['shown', 'not shown', 'no answer'], {
          description:
            '`shown` if the challenge was found, `not shown` if it was not, and `no answer` if no name server answered.',
        }),
        name: Type.String({ description: 'Name whose TXT records were queried.' }),
        servers: Type.Array(Type.String(), { description: 'Name servers that were queried.' }),
        found: Type.Array(Type.String(), { description: 'TXT records found, at most 20.' }),
        error: nullableText('Error code of the resolver if no records were returned, for example `ENOTFOUND`.'),
      },
      { description: 'The DNS query and its result.' },
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

export function toDomain(row: DomainRow, installedProviders: InstalledProviders) {
  const saml = checkSamlProvider(row);
  const [has_saml, has_oidc] = [saml !== null, hasOidc(row)];
  const inForce = findEnforcement({ ...row, has_saml, has_oidc }, installedProviders);
  const enforcement =
    inForce.state === 'off' || hasProofInTime(row, new Date())
      ? inForce
      : ({ state: 'no effect', reason: 'proof_missing' } as const);
  return {
    ...row,
    is_verified: row.verified_at !== null && hasProofInTime(row, new Date()),
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
