import { isInviteExpired } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import { type Static, Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import type { InviteRow } from './store.ts';

const projectGrants = Type.Union(
  [Type.Array(Type.Object({ id: Type.Integer(), level: Type.Integer() })), Type.Null()],
  {
    description:
      'Access to private projects that the invite grants, as `{id, level}` with level 1 or 8. Null if not set.',
  },
);

/** An invite to an organization, with fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const invite = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the invite.' }),
    target_email: Type.String({ description: 'Email address of the invited person.' }),
    first_name: Type.String({ description: 'First name of the invited person. Empty if unknown.' }),
    emailing_attempt_made: Type.Boolean({
      description:
        'Whether Millrace tried to send the email, successfully or not. False if the organization has reached its hourly email limit. ' +
        'In this case, invite the person again in the next hour.',
    }),
    level: Type.Integer({
      description: 'Membership level that the invite grants: 1 (member), 8 (administrator) or 15 (owner).',
    }),
    is_expired: Type.Boolean({
      description: 'Whether the invite has expired. Invites can be accepted for three days.',
    }),
    created_by: Type.Union([embeddedUser, Type.Null()], {
      description: 'User who sent the invite, or null if that user was deleted.',
    }),
    created_at: Type.String({ format: 'date-time', description: 'When the invite was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When the invite was last changed.' }),
    message: Type.Union([Type.String(), Type.Null()], { description: 'Personal message in the email.' }),
    private_project_access: projectGrants,
    send_email: Type.Boolean({ description: 'Whether the request included sending an email.' }),
    combine_pending_invites: Type.Boolean({
      description: 'Whether the invite includes the access that earlier pending invites granted.',
    }),
    mail_error: Type.Optional(
      Type.String({
        description:
          "Only present if the email could not be sent: the mail server's error code, such as `550`, or `unreachable`. To resend the " +
          'email, invite the person again.',
      }),
    ),
  },
  { title: 'Invite' },
);

/** Response to creating an invite. Contains the invite's secret if the request used a session. */
export const createdInvite = Type.Object(
  {
    ...invite.properties,
    token: Type.Optional(
      Type.String({
        description:
          'Secret for an invite link that you can pass on yourself. Only sessions receive it, and only in this response. The link is ' +
          '`/console/invite/<id>#<token>`. The secret differs from the one in the email, and does not prove that the person owns the email ' +
          'address.',
      }),
    ),
  },
  { title: 'MadeInvite' },
);

export const newInvite = Type.Object(
  {
    target_email: Type.String({
      format: 'email',
      minLength: 1,
      maxLength: 254,
      description: 'Email address of the person. The part after the @ is converted to lower case.',
    }),
    first_name: Type.Optional(Type.String({ maxLength: 30, description: 'First name of the person.' })),
    level: Type.Optional(
      Type.Enum(Object.values(membershipLevels), {
        description:
          'Membership level: 1 (member, the default), 8 (administrator) or 15 (owner). Must not exceed your own level.',
      }),
    ),
    message: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'Personal message for the email.' }),
    ),
    // The schema accepts any value, because `createInvites` validates this field.
    private_project_access: Type.Optional(
      Type.Unknown({ description: 'Access to private projects, as a list of `{id, level}` with level 1 or 8.' }),
    ),
    send_email: Type.Optional(Type.Boolean({ description: 'Whether to send an email. Defaults to true.' })),
    combine_pending_invites: Type.Optional(
      Type.Boolean({
        description:
          'Whether to include the highest level and all project access from pending invites for the same person. Defaults to false. ' +
          'Pending invites are replaced in either case.',
      }),
    ),
  },
  { title: 'InviteToCreate' },
);
export type InviteBody = Static<typeof newInvite>;

export const inviteExample = {
  id: '0193f0c5-7a4e-4000-8000-0000000000e1',
  target_email: 'grace@example.com',
  first_name: 'Grace',
  emailing_attempt_made: true,
  level: membershipLevels.member,
  is_expired: false,
  created_by: embeddedUserExample,
  created_at: '2026-11-01T09:00:00Z',
  updated_at: '2026-11-01T09:00:00Z',
  message: null,
  private_project_access: null,
  send_email: true,
  combine_pending_invites: false,
};

const linkSecret = Type.String({ minLength: 1, description: 'Secret from the invite link.' });

export const inviteLookup = Type.Object({ token: linkSecret }, { title: 'InviteLook' });

/** The fields of an invite that the invited user can see before accepting it. */
export const invitation = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the invite.' }),
    target_email: Type.String({ description: 'Invited email address.' }),
    first_name: Type.String({ description: 'First name in the invite. Empty if not set.' }),
    organization_name: Type.String({ description: 'Name of the organization.' }),
    level: Type.Integer({ description: 'Membership level: 1 (member), 8 (administrator) or 15 (owner).' }),
    expires_at: Type.String({ format: 'date-time', description: 'Time until which the invite can be accepted.' }),
    is_expired: Type.Boolean({ description: 'Whether the invite has expired.' }),
    has_account: Type.Union([Type.Boolean(), Type.Null()], {
      description:
        "Whether an account with this email address exists. If so, accept the invite with that account's own key. Null unless the secret " +
        'is the one from the email.',
    }),
  },
  { title: 'Invitation' },
);

export const invitationExample = {
  id: '0193f0c5-7a4e-4000-8000-0000000000e1',
  target_email: 'grace@example.com',
  first_name: 'Grace',
  organization_name: 'Example Ltd',
  level: membershipLevels.member,
  expires_at: '2026-11-04T09:00:00Z',
  is_expired: false,
  has_account: false,
};

const accepted = {
  user: embeddedUser,
  organization_id: Type.String({ format: 'uuid', description: 'ID of the organization that was joined.' }),
  organization_name: Type.String({ description: 'Name of the organization that was joined.' }),
  level: Type.Integer({ description: 'Membership level: 1 (member), 8 (administrator) or 15 (owner).' }),
};
export const acceptance = Type.Object(
  {
    token: Type.Optional(
      Type.String({
        description: 'Secret of the invite. Required if the email address of your account has not been confirmed yet.',
      }),
    ),
  },
  { title: 'Acceptance' },
);
export const acceptedInvite = Type.Object(accepted, { title: 'AcceptedInvite' });
export const signedUp = Type.Object(
  {
    ...accepted,
    personal_api_key: Type.Union([Type.String(), Type.Null()], {
      description:
        'Personal API key with the same permissions as the key that sent the invite. It is returned only in this response. Null if the ' +
        'user was signed in instead.',
    }),
  },
  { title: 'SignedUp' },
);

export const signUp = Type.Object(
  {
    token: linkSecret,
    first_name: Type.Optional(
      Type.String({ maxLength: 150, description: 'First name. Defaults to the first name in the invite.' }),
    ),
    last_name: Type.Optional(Type.String({ maxLength: 150, description: 'Last name.' })),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        format: 'password',
        description: 'Password of 8 to 256 characters. With a password, you are signed in and do not receive a key.',
      }),
    ),
    with_passkey: Type.Optional(
      Type.Boolean({
        description:
          'Whether to use a passkey instead of a password. You are signed in without a key, and must then register a passkey (`/api/webauthn/register/begin`).',
      }),
    ),
  },
  { title: 'SignUp' },
);

export const acceptedInviteExample = {
  user: embeddedUserExample,
  organization_id: '0193f0c5-7a4e-7000-8000-0000000000aa',
  organization_name: 'Example Ltd',
  level: membershipLevels.member,
};

/** Converts an invite to an API response. @param now the time at which to check whether the invite has expired */
export function toInvite({ mail_error: mailError, ...row }: InviteRow, now: Date) {
  return {
    ...row,
    ...(mailError !== null && { mail_error: mailError }),
    is_expired: isInviteExpired(row, now),
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
  };
}
