import { isMembershipLevel, type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { v7 as uuidv7 } from 'uuid';
import { answeringConstraints, notFound } from '../input/account-errors.ts';
import { invalidField, isRowId, isUuid } from '../input/account-input.ts';
import { lockOrganization } from '../organizations/lock-organization-store.ts';
import {
  countOwners,
  deleteMember,
  findMembership,
  insertMembership,
  type Membership,
  selectMemberships,
  updateMemberLevel,
} from './member-store.ts';

export interface NewMember {
  organizationId: string;
  userId: number;
  /** 1 member (default), 8 administrator, 15 owner (docs/api-rules.md#levels). */
  level?: MembershipLevel;
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
  return answeringConstraints(
    {
      membership_organization_id_fkey: (cause) => notFound('Organization', cause),
      membership_user_id_fkey: (cause) => notFound('User', cause),
      membership_organization_id_user_id_key: isMemberAlready,
    },
    () => insertMembership(sql, { id: uuidv7(), organizationId: input.organizationId, userId: input.userId, level }),
  );
}

/** Members of an organization with their addresses, the latest first (docs/api-rules.md#pages). */
export async function listMembers(
  sql: Sql,
  filter: { organizationId: string },
): Promise<(Membership & { email: string })[]> {
  return selectMemberships(sql, filter.organizationId);
}

/** Who is changed, and what the membership was before. */
export interface ChangedMember {
  before: Membership;
  after: Membership;
}

/**
 * Gives a member another level, whoever asks: the rules on who may do so are the caller's.
 * @throws AppError `invalid` naming `level`; `not_found`; `conflict` for the last owner.
 */
export async function setMemberLevel(tx: Transaction, input: Required<NewMember>): Promise<ChangedMember> {
  if (!isMembershipLevel(input.level)) {
    throw invalidField('level', 'invalid_choice', `"${String(input.level)}" is not a valid choice: 1, 8 or 15.`);
  }
  const before = await lockMember(tx, input);
  if (input.level !== membershipLevels.owner) await keepAnOwner(tx, before);
  await updateMemberLevel(tx, before.id, input.level);
  return { before, after: { ...before, level: input.level } };
}

/**
 * Takes a user out of an organization.
 * @throws AppError `not_found`; `conflict` for the last owner.
 */
export async function removeMember(
  tx: Transaction,
  input: { organizationId: string; userId: number },
): Promise<Membership> {
  const member = await lockMember(tx, input);
  await keepAnOwner(tx, member);
  await deleteMember(tx, member.id);
  return member;
}

async function lockMember(
  tx: Transaction,
  { organizationId, userId }: { organizationId: string; userId: number },
): Promise<Membership> {
  await lockOrganization(tx, organizationId);
  const member = isRowId(userId) ? await findMembership(tx, { organizationId, userId }) : undefined;
  if (!member) throw notFound('Member');
  return member;
}

/** An organization without an owner could be administered by nobody but the operator. */
async function keepAnOwner(tx: Transaction, member: Membership): Promise<void> {
  if (member.level !== membershipLevels.owner) return;
  if ((await countOwners(tx, member.organization_id, membershipLevels.owner)) > 1) return;
  throw new AppError('conflict', 'The last owner has to stay. Make another member an owner first.');
}

function isMemberAlready(cause: unknown): AppError {
  return new AppError('conflict', 'The user is already a member of this organization.', {
    code: 'unique',
    attr: 'user_id',
    cause,
  });
}
