import { isMembershipLevel, type MembershipLevel, membershipLevels } from '@millrace/contracts';
import type { membership, user } from '@millrace/db';
import { sqlOf } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { v7 as uuidv7 } from 'uuid';
import type { AccountClient } from '../input/account-client.ts';
import { answeringConstraints, notFound } from '../input/account-errors.ts';
import { invalidField, isRowId, isUuid } from '../input/account-input.ts';
import { lockOrganization } from '../organizations/lock-organization-store.ts';

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
export async function addMember(client: AccountClient, input: NewMember): Promise<membership> {
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
    () =>
      client.membership.create({
        data: { id: uuidv7(), organization_id: input.organizationId, user_id: input.userId, level },
      }),
  );
}

/** Members of an organization with their user, the latest first (docs/api-rules.md#pages). */
export async function listMembers(
  client: AccountClient,
  filter: { organizationId: string },
): Promise<(membership & { user: user })[]> {
  return client.membership.findMany({
    where: { organization_id: filter.organizationId },
    include: { user: true },
    orderBy: [{ joined_at: 'desc' }, { id: 'desc' }],
  });
}

/**
 * Gives a member another level.
 * @param client a transaction.
 * @throws AppError `invalid` naming `level`; `not_found`; `conflict` for the last owner.
 */
export async function setMemberLevel(client: AccountClient, input: Required<NewMember>): Promise<membership> {
  if (!isMembershipLevel(input.level)) {
    throw invalidField('level', 'invalid_choice', `"${String(input.level)}" is not a valid choice: 1, 8 or 15.`);
  }
  const member = await lockMember(client, input);
  if (input.level !== membershipLevels.owner) await keepAnOwner(client, member);
  return client.membership.update({
    where: { id: member.id },
    data: { level: input.level, updated_at: new Date() },
  });
}

/**
 * Takes a user out of an organization.
 * @param client a transaction.
 * @throws AppError `not_found`; `conflict` for the last owner.
 */
export async function removeMember(
  client: AccountClient,
  input: { organizationId: string; userId: number },
): Promise<membership> {
  const member = await lockMember(client, input);
  await keepAnOwner(client, member);
  return client.membership.delete({ where: { id: member.id } });
}

async function lockMember(
  client: AccountClient,
  { organizationId, userId }: { organizationId: string; userId: number },
): Promise<membership> {
  if (!isUuid(organizationId)) throw notFound('Organization');
  if (!(await lockOrganization(sqlOf(client), organizationId))) throw notFound('Organization');
  const member = isRowId(userId)
    ? await client.membership.findFirst({ where: { organization_id: organizationId, user_id: userId } })
    : null;
  if (!member) throw notFound('Member');
  return member;
}

/** An organization without an owner could be administered by nobody but the operator. */
async function keepAnOwner(client: AccountClient, member: membership): Promise<void> {
  if (member.level !== membershipLevels.owner) return;
  const owners = await client.membership.count({
    where: { organization_id: member.organization_id, level: membershipLevels.owner },
  });
  if (owners <= 1) throw new AppError('conflict', 'The last owner has to stay. Make another member an owner first.');
}

function isMemberAlready(cause: unknown): AppError {
  return new AppError('conflict', 'The user is already a member of this organization.', {
    code: 'unique',
    attr: 'user_id',
    cause,
  });
}
