import { membershipLevels } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import type { MemberRow } from './store.ts';

/** An organization member, with fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const member = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the membership.' }),
    user: embeddedUser,
    level: Type.Integer({ description: 'Membership level: 1 (member), 8 (administrator) or 15 (owner).' }),
    joined_at: Type.String({ format: 'date-time', description: 'When the user joined the organization.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When the membership was last changed.' }),
    is_2fa_enabled: Type.Boolean({ description: 'Whether the user has two-factor authentication enabled.' }),
    has_social_auth: Type.Boolean({
      description: 'Whether the user can sign in through an external provider.',
    }),
    last_login: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the user last signed in. Null if the user has never signed in.',
    }),
  },
  { title: 'Member', description: "A user's membership in an organization." },
);

export const memberChanges = Type.Object(
  {
    level: Type.Optional(
      Type.Enum(Object.values(membershipLevels), {
        description: 'Membership level: 1 (member), 8 (administrator) or 15 (owner). Must not exceed your own level.',
      }),
    ),
  },
  { title: 'MemberChanges' },
);

export const memberExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000cc',
  user: embeddedUserExample,
  level: membershipLevels.administrator,
  joined_at: '2026-11-01T09:00:00Z',
  updated_at: '2026-11-01T09:00:00Z',
  is_2fa_enabled: false,
  has_social_auth: false,
  last_login: null,
};

export function toMember(row: MemberRow) {
  return {
    ...row,
    joined_at: formatDateTime(row.joined_at),
    updated_at: formatDateTime(row.updated_at),
    is_2fa_enabled: row.is_2fa_enabled,
    last_login: row.last_login && formatDateTime(row.last_login),
  };
}
