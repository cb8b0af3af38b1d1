// Invites, and the accepting of one, as requests and answers have them.

import { isInviteExpired } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import { type Static, Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import type { InviteRow } from './store.ts';

const projectGrants = Type.Union(
  [Type.Array(Type.Object({ id: Type.Integer(), level: Type.Integer() })), Type.Null()],
  { description: 'Access to private projects, as `{id, level}` with level 1 or 8; null when unset.' },
);

/** An invitation to an organization, its fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const invite = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the invite.' }),
    target_email: Type.String({ description: 'Address of the person who is invited.' }),
    first_name: Type.String({ description: 'First name of that person, empty when unknown.' }),
    emailing_attempt_made: Type.Boolean({
      description:
        'Whether sending the mail was tried, successfully or not. It is not when the organization has sent as many mails as it may in this hour: invite the person again in the next one.',
    }),
    level: Type.Integer({ description: 'Level the person will have: 1 member, 8 administrator, 15 owner.' }),
    is_expired: Type.Boolean({ description: 'Whether it can no longer be accepted; it can for three days.' }),
    created_by: Type.Union([embeddedUser, Type.Null()], { description: 'Who invited; null when that user is gone.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When it was last changed.' }),
    message: Type.Union([Type.String(), Type.Null()], { description: 'Words of the inviter in the mail.' }),
    private_project_access: projectGrants,
    send_email: Type.Boolean({ description: 'Whether a mail was requested.' }),
    combine_pending_invites: Type.Boolean({ description: 'Whether it took over what earlier invites granted.' }),
    mail_error: Type.Optional(
      Type.String({
        description:
          'Only when the mail was not taken: the code of the mail server (`550`), or `unreachable`. Invite the person again to send it again.',
      }),
    ),
  },
  { title: 'Invite' },
);

/** As it is answered to whoever makes it. */
export const madeInvite = Type.Object(
  {
    ...invite.properties,
    token: Type.Optional(
      Type.String({
        description:
          'Only for a session, in this answer and never again: a secret to hand over yourself, as `/console/invite/<id>#<token>`. It is another one than that of the mail, and does not prove the address.',
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
      description: 'Address of the person; the part after the @ is put in lower case.',
    }),
    first_name: Type.Optional(Type.String({ maxLength: 30, description: 'First name of that person.' })),
    level: Type.Optional(
      Type.Enum(Object.values(membershipLevels), {
        description: '1 member (the default), 8 administrator, 15 owner; at most your own.',
      }),
    ),
    message: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Your words in the mail.' })),
    // Its own sentences are made by `createInvites`.
    private_project_access: Type.Optional(
      Type.Unknown({ description: 'Access to private projects, a list of `{id, level}` with level 1 or 8.' }),
    ),
    send_email: Type.Optional(Type.Boolean({ description: 'Whether to send a mail; true by default.' })),
    combine_pending_invites: Type.Optional(
      Type.Boolean({
        description:
          'Whether to take over the highest level and all access of pending invites of the same person; false by default. They are replaced either way.',
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

const linkSecret = Type.String({ minLength: 1, description: 'The secret of the link.' });

export const inviteLook = Type.Object({ token: linkSecret }, { title: 'InviteLook' });

/** What somebody who was invited may see of an invite before accepting it. */
export const invitation = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the invite.' }),
    target_email: Type.String({ description: 'The address that was invited.' }),
    first_name: Type.String({ description: 'First name the inviter gave, empty when none.' }),
    organization_name: Type.String({ description: 'The organization to join.' }),
    level: Type.Integer({ description: '1 member, 8 administrator, 15 owner.' }),
    expires_at: Type.String({ format: 'date-time', description: 'Until when it can be accepted.' }),
    is_expired: Type.Boolean({ description: 'Whether it is too late.' }),
    has_account: Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether the address has an account already, which accepts with its key. Null unless the secret is the one from the mail.',
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

/** What comes of accepting an invite. */
const accepted = {
  user: embeddedUser,
  organization_id: Type.String({ format: 'uuid', description: 'The organization joined.' }),
  organization_name: Type.String({ description: 'Its name.' }),
  level: Type.Integer({ description: '1 member, 8 administrator, 15 owner.' }),
};
export const acceptance = Type.Object(
  {
    token: Type.Optional(
      Type.String({
        description: 'A secret of the invite: needed by an account whose address nobody has confirmed yet.',
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
        'A key that may do what the key of the inviter may; shown in this answer and never again. Null for who chose a password.',
    }),
  },
  { title: 'SignedUp' },
);

export const signUp = Type.Object(
  {
    token: linkSecret,
    first_name: Type.Optional(
      Type.String({ maxLength: 150, description: 'First name; the one of the invite if absent.' }),
    ),
    last_name: Type.Optional(Type.String({ maxLength: 150, description: 'Last name.' })),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        format: 'password',
        description: 'A password, 8 to 256 characters: you are signed in then, and get no key.',
      }),
    ),
    with_passkey: Type.Optional(
      Type.Boolean({
        description:
          'In place of a password: you are signed in to register a passkey next (`/api/webauthn/register/begin`), and get no key.',
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

/** An invite as the API shows it at a given time. */
export function toInvite({ mail_error: mailError, ...row }: InviteRow, now: Date) {
  return {
    ...row,
    ...(mailError !== null && { mail_error: mailError }),
    is_expired: isInviteExpired(row, now),
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
  };
}
