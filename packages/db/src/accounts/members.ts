import { isMembershipLevel, type MembershipLevel, membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { v7 as uuidv7 } from 'uuid';
import type { membership, user } from '../generated/client.ts';
import type { AccountClient } from './account-client.ts';
import { answeringConstraints, notFound } from './account-errors.ts';
import { invalidField, isRowId, isUuid } from './account-input.ts';

export interface NewMember {
  organizationId: string;
  userId: number;
  /** 1 member (default), 8 administrator, 15 owner (reference/management-api.md section 2.8). */
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

/** Members of an organization with their user, the latest first (reference/management-api.md section 2.4). */
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

function isMemberAlready(cause: unknown): AppError {
  return new AppError('conflict', 'The user is already a member of this organization.', {
    code: 'unique',
    attr: 'user_id',
    cause,
  });
}
