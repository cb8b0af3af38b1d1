import { membershipLevels } from '@millrace/contracts';
import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';
import { organization, organizationExample } from '../organizations/schema.ts';
import { projectExample, projectSummary } from '../projects/schema.ts';

/** The caller as `/api/users/@me/` shows it: of what PostHog shows, what exists here. */
export const me = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the user.' }),
    date_joined: Type.String({ format: 'date-time', description: 'When the account was created.' }),
    uuid: Type.String({ format: 'uuid', description: 'Id of the user.' }),
    distinct_id: Type.String({ description: 'Id under which the product itself may track the user.' }),
    first_name: Type.String({ description: 'First name.' }),
    last_name: Type.String({ description: 'Last name.' }),
    email: Type.String({ description: 'E-mail address.' }),
    is_email_verified: Type.Boolean({ description: 'Whether the address was confirmed.' }),
    pending_email: Type.Union([Type.String(), Type.Null()], {
      description: 'The address that becomes this one once it is proved; null for none.',
    }),
    has_password: Type.Boolean({ description: 'Whether the user can sign in with a password.' }),
    sensitive_session_expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Until when this session may do what needs a recent sign-in; null with a key.',
    }),
    is_staff: Type.Boolean({ description: 'Always false: no user has rights beyond organizations.' }),
    is_2fa_enabled: Type.Boolean({ description: 'Whether the user signs in with a second factor.' }),
    passkeys_enabled_for_2fa: Type.Boolean({
      description: 'Whether a passkey is asked for after a password. By itself a passkey signs in without one.',
    }),
    has_social_auth: Type.Boolean({ description: 'Whether the user can sign in with an account of another service.' }),
    hedgehog_config: freeFormObject({ description: 'Free-form settings, empty when unset.' }),
    role_at_organization: Type.String({ description: 'What the user does for a living, empty when unknown.' }),
    team: Type.Union([projectSummary, Type.Null()], { description: 'The project `@current` stands for.' }),
    organization: Type.Union([organization, Type.Null()], { description: 'The organization `@current` stands for.' }),
    organizations: Type.Array(
      Type.Object({
        id: Type.String({ format: 'uuid' }),
        name: Type.String(),
        slug: Type.String(),
        logo_media_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
        membership_level: Type.Integer(),
      }),
      { description: 'Every organization of the user the key may use.' },
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

/** What was mailed to an address. */
export const emailProof = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 20, description: 'The six digits of the mail.' }) },
  { title: 'EmailProof' },
);

/** What people do for a living (docs/api-rules.md#users). */
const roles = ['engineering', 'data', 'product', 'founder', 'leadership', 'marketing', 'sales', 'other', ''];

/** What would change more than how a page looks, and is not supported. */
export const refusedUserFields = {
  anonymize_data: {
    detail:
      'Millrace does not analyze how you use it, so there is nothing to anonymize. Leave `anonymize_data` out, or send false.',
    unless: [null, false],
  },
  is_staff: {
    detail: 'Millrace has no staff users. Leave `is_staff` out, or send false.',
    unless: [null, false],
  },
  notification_settings: {
    detail: 'Emails cannot be chosen one by one. Leave `notification_settings` out, or send an empty object.',
    unless: [null, {}],
  },
};

/** What users may change of themselves. Everything else in a body is ignored. */
export const userChanges = Type.Object(
  {
    first_name: Type.Optional(Type.String({ maxLength: 150, description: 'First name.' })),
    last_name: Type.Optional(Type.String({ maxLength: 150, description: 'Last name.' })),
    hedgehog_config: Type.Optional(
      Type.Union([freeFormObject(), Type.Null()], {
        description: 'Free-form settings, 2000 characters at most as JSON; null clears them.',
      }),
    ),
    role_at_organization: Type.Optional(
      Type.Enum(roles, { description: 'What you do for a living; empty when you do not say.' }),
    ),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        format: 'password',
        description: 'A new password, 8 to 256 characters. Needs a session; your other sessions end.',
      }),
    ),
    email: Type.Optional(
      Type.String({
        format: 'email',
        maxLength: 254,
        description: 'Another address. It waits until it is proved. Needs a session of the last five minutes.',
      }),
    ),
    passkeys_enabled_for_2fa: Type.Optional(
      Type.Boolean({ description: 'Whether a passkey is asked for after a password. Needs a session.' }),
    ),
    current_password: Type.Optional(
      Type.String({ format: 'password', description: 'With a new password: the one before, if there is one.' }),
    ),
    set_current_organization: Type.Optional(
      Type.String({ description: 'Id of the organization `@current` shall stand for.' }),
    ),
    set_current_team: Type.Optional(
      Type.Integer({ description: 'Id of the environment `@current` shall stand for; its organization follows.' }),
    ),
  },
  { title: 'UserChanges' },
);
