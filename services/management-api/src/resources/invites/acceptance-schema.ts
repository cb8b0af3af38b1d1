import { membershipLevels } from '@millrace/contracts';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';

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
    has_account: Type.Boolean({
      description: 'Whether the address has an account already, which accepts with its key.',
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
export const acceptedInvite = Type.Object(accepted, { title: 'AcceptedInvite' });
export const signedUp = Type.Object(
  {
    ...accepted,
    personal_api_key: Type.String({
      description: 'A key that may do what the key of the inviter may; shown in this answer and never again.',
    }),
  },
  { title: 'SignedUp' },
);

export const signUp = Type.Object({
  token: Type.String({ minLength: 1, description: 'The secret of the mail.' }),
  first_name: Type.Optional(
    Type.String({ maxLength: 150, description: 'First name; the one of the invite if absent.' }),
  ),
  last_name: Type.Optional(Type.String({ maxLength: 150, description: 'Last name.' })),
});

export const acceptedInviteExample = {
  user: embeddedUserExample,
  organization_id: '0193f0c5-7a4e-7000-8000-0000000000aa',
  organization_name: 'Example Ltd',
  level: membershipLevels.member,
};
