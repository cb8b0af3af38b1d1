import type { user } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import type { AccountClient } from '../input/account-client.ts';
import { answeringConstraints, isRowMissing, notFound } from '../input/account-errors.ts';
import { checkEmail, checkText, isRowId } from '../input/account-input.ts';

export interface NewUser {
  email: string;
  /** At most 150 characters each. */
  firstName?: string;
  lastName?: string;
  roleAtOrganization?: string;
  isEmailVerified?: boolean;
}

/**
 * The address is stored in lower case.
 * @throws AppError `invalid` naming the field, or `conflict` naming `email` when the address is taken.
 */
export async function createUser(client: AccountClient, input: NewUser): Promise<user> {
  const data = {
    uuid: uuidv7(),
    distinct_id: uuidv4(),
    email: checkEmail('email', input.email),
    first_name: checkText('first_name', input.firstName ?? '', { maxLength: 150, isBlankAllowed: true }),
    last_name: checkText('last_name', input.lastName ?? '', { maxLength: 150, isBlankAllowed: true }),
    role_at_organization: checkText('role_at_organization', input.roleAtOrganization ?? '', {
      maxLength: 64,
      isBlankAllowed: true,
    }),
    is_email_verified: input.isEmailVerified ?? false,
  };
  return answeringConstraints({ user_email_key: emailIsTaken }, () => client.user.create({ data }));
}

/** Oldest first; all of them, or the members of one organization. */
export async function listUsers(client: AccountClient, filter: { organizationId?: string } = {}): Promise<user[]> {
  const { organizationId } = filter;
  return client.user.findMany({
    where: organizationId === undefined ? {} : { memberships: { some: { organization_id: organizationId } } },
    orderBy: { id: 'asc' },
  });
}

/** Finds a user by id or by e-mail address, however it is written. @throws AppError `not_found`. */
export async function getUser(client: AccountClient, by: { id: number } | { email: string }): Promise<user> {
  const found =
    'email' in by
      ? await client.user.findUnique({ where: { email: by.email.trim().toLowerCase() } })
      : isRowId(by.id)
        ? await client.user.findUnique({ where: { id: by.id } })
        : null;
  if (!found) throw notFound('User');
  return found;
}

/**
 * Lets a user in again or keeps them out; keys of an inactive user do not work.
 * @throws AppError `not_found`.
 */
export async function setUserActive(client: AccountClient, userId: number, isActive: boolean): Promise<user> {
  if (!isRowId(userId)) throw notFound('User');
  try {
    return await client.user.update({ where: { id: userId }, data: { is_active: isActive } });
  } catch (error) {
    throw isRowMissing(error) ? notFound('User', error) : error;
  }
}

function emailIsTaken(cause: unknown): AppError {
  return new AppError('conflict', 'There is already a user with this email address.', {
    code: 'unique',
    attr: 'email',
    cause,
  });
}
