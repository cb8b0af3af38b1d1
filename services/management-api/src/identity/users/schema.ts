import { membershipLevels } from '@millrace/contracts';
import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';
import { organization, organizationExample } from '../organizations/schema.ts';
import { projectExample, projectSummary } from '../projects/schema.ts';

/** The caller as returned by `/api/users/@me/`, with the PostHog fields that Millrace supports. */
export const me = Type.Object(
  {
    id: Type.Integer({ description: 'Numeric ID of the user.' }),
    date_joined: Type.String({ format: 'date-time', description: 'When the account was created.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the user.' }),
    distinct_id: Type.String({ description: "Distinct ID of the user in Millrace's own product analytics." }),
    first_name: Type.String({ description: 'First name.' }),
    last_name: Type.String({ description: 'Last name.' }),
    email: Type.String({ description: 'Email address.' }),
    is_email_verified: Type.Boolean({ description: 'Whether the email address has been verified.' }),
    pending_email: Type.Union([Type.String(), Type.Null()], {
      description: 'New email address that is waiting for verification. Null if no change is pending.',
    }),
    has_password: Type.Boolean({ description: 'Whether the user can sign in with a password.' }),
    sensitive_session_expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'Time until which this session can be used for actions that require a recent sign-in. Null with an API key.',
    }),
    is_staff: Type.Boolean({ description: 'Always false, because Millrace does not have staff users.' }),
    is_2fa_enabled: Type.Boolean({ description: 'Whether the user has two-factor authentication enabled.' }),
    passkeys_enabled_for_2fa: Type.Boolean({
      description:
        'Whether a passkey is required after the password. Regardless of this setting, the user can sign in with a ' +
        'passkey instead of a password.',
    }),
    has_social_auth: Type.Boolean({
      description: 'Whether the user can sign in through an external provider.',
    }),
    hedgehog_config: freeFormObject({ description: 'Free-form settings. Empty if not set.' }),
    role_at_organization: Type.String({ description: 'Job role of the user. Empty if not known.' }),
    team: Type.Union([projectSummary, Type.Null()], { description: 'Project that `@current` refers to.' }),
    organization: Type.Union([organization, Type.Null()], { description: 'Organization that `@current` refers to.' }),
    organizations: Type.Array(
      Type.Object({
        id: Type.String({ format: 'uuid' }),
        name: Type.String(),
        slug: Type.String(),
        logo_media_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
        membership_level: Type.Integer(),
      }),
      { description: 'Organizations of the user that the API key or session can access.' },
    ),
  },
  { title: 'Me' },
);

export const meExample = {
  id: 1,
  date_joined: '2026-11-01T09:00:00Z',
  uuid: '0193f0c5-7a4e-7000-8000-0000000000bb',
  distinct_id: 'Xw9x0l1Jg6cU',
  first_name: 'Ada',
  last_name: 'Example',
  email: 'ada@example.com',
  is_email_verified: true,
  pending_email: null,
  has_password: true,
  sensitive_session_expires_at: null,
  is_staff: false,
  is_2fa_enabled: false,
  passkeys_enabled_for_2fa: false,
  has_social_auth: false,
  hedgehog_config: {},
  role_at_organization: 'engineering',
  team: projectExample,
  organization: organizationExample,
  organizations: [
    {
      id: organizationExample.id,
      name: organizationExample.name,
      slug: organizationExample.slug,
      logo_media_id: null,
      membership_level: membershipLevels.owner,
    },
  ],
};

export const emailVerification = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 20, description: 'Six-digit code from the email.' }) },
  { title: 'EmailProof' },
);

/** Job roles that users can choose (docs/api/users.md). */
const roles = ['engineering', 'data', 'product', 'founder', 'leadership', 'marketing', 'sales', 'other', ''];

/** PostHog fields that Millrace rejects, because they affect more than a page's appearance. */
export const refusedUserFields = {
  anonymize_data: {
    detail:
      '`anonymize_data` is not supported, because Millrace does not collect data about how you use it. Leave it ' +
      'out, or ' +
      'set it to false.',
    unless: [null, false],
  },
  is_staff: {
    detail:
      '`is_staff` is not supported, because Millrace does not have staff users. Leave it out, or set it to false.',
    unless: [null, false],
  },
  notification_settings: {
    detail:
      '`notification_settings` is not supported, because emails cannot be turned off individually. Leave it out, or ' +
      'send an empty object.',
    unless: [null, {}],
  },
};

/** The fields that users can change. Other fields in a request are ignored. */
export const userChanges = Type.Object(
  {
    first_name: Type.Optional(Type.String({ maxLength: 150, description: 'First name.' })),
    last_name: Type.Optional(Type.String({ maxLength: 150, description: 'Last name.' })),
    hedgehog_config: Type.Optional(
      Type.Union([freeFormObject(), Type.Null()], {
        description: 'Free-form settings, at most 2000 characters as JSON. Null clears them.',
      }),
    ),
    role_at_organization: Type.Optional(
      Type.Enum(roles, { description: 'Your job role. Leave the field empty if you prefer not to say.' }),
    ),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        format: 'password',
        description:
          'New password, with 8 to 256 characters. Changing the password ends your other sessions. The password ' +
          'can be changed only from a session, not with an API key.',
      }),
    ),
    email: Type.Optional(
      Type.String({
        format: 'email',
        maxLength: 254,
        description:
          'New email address. The change takes effect after the new address has been verified with a code. ' +
          'Requires a session in which you ' +
          'signed in within the last five minutes.',
      }),
    ),
    passkeys_enabled_for_2fa: Type.Optional(
      Type.Boolean({ description: 'Whether a passkey is required after the password. Requires a session.' }),
    ),
    current_password: Type.Optional(
      Type.String({
        format: 'password',
        description:
          'Current password. Required to change `password` if the account has a password, unless the session was ' +
          'started with a sign-in link.',
      }),
    ),
    set_current_organization: Type.Optional(
      Type.String({ description: 'ID of the organization that `@current` refers to.' }),
    ),
    set_current_team: Type.Optional(
      Type.Integer({
        description:
          "ID of the environment that `@current` refers to. The environment's organization becomes the current " +
          'organization as well.',
      }),
    ),
  },
  { title: 'UserChanges' },
);
