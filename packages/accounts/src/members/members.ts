import { isMembershipLevel, type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { v7 as uuidv7 } from 'uuid';
import type { Actor } from '../activity/record-activity.ts';
import { answeringConstraints, notFound } from '../input/account-errors.ts';
import { invalidField, isRowId, isUuid } from '../input/account-input.ts';
import {
  findMember,
  insertMembership,
  type Membership,
  type MemberWithEmail,
  selectMemberships,
} from './member-store.ts';
import { recordMembership } from './record-membership.ts';

export interface NewMember {
  organizationId: string;
  userId: number;
  /** 1 member (default), 8 administrator, 15 owner (docs/api-rules.md#levels). */
  level?: MembershipLevel;
  /** Who did it; absent where the record of something greater, like a new organization, tells of it. */
  actor?: Actor;
}

/**
 * @throws AppError `invalid` naming `level`; `not_found` for the organization or the user; `conflict` naming `user_id`
 * when the user is a member already.
 */
export async function addMember(sql: Sql, input: NewMember): Promise<Membership> {
  const level = input.level ?? membershipLevels.member;
  if (!isMembershipLevel(level)) {
    throw invalidField('level', 'invalid_choice', `"${String(level)}" is not a valid choice: 1, 8 or 15.`);
  }
  if (!isUuid(input.organizationId)) throw notFound('Organization');
  if (!isRowId(input.userId)) throw notFound('User');
  const added = await answeringConstraints(
    {
      membership_organization_id_fkey: (cause) => notFound('Organization', cause),
      membership_user_id_fkey: (cause) => notFound('User', cause),
      membership_organization_id_user_id_key: isMemberAlready,
    },
    () => insertMembership(sql, { id: uuidv7(), organizationId: input.organizationId, userId: input.userId, level }),
  );
  if (input.actor === undefined) return added;
  const member = await findMember(sql, input);
  if (member) await recordMembership(sql, member, { activity: 'created', actor: input.actor });
  return added;
}

/** Members of an organization with their addresses, the latest first (docs/api-rules.md#pages). */
export async function listMembers(sql: Sql, filter: { organizationId: string }): Promise<MemberWithEmail[]> {
  return selectMemberships(sql, filter.organizationId);
}

function isMemberAlready(cause: unknown): AppError {
  return new AppError('conflict', 'The user is already a member of this organization.', {
    code: 'unique',
    attr: 'user_id',
    cause,
  });
}
