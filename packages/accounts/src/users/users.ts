import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { answeringConstraints, checkEmail, checkText, isRowId, notFound } from '../input.ts';
import { endSessionsOf } from '../sign-in/sessions.ts';
import { findUser, insertUser, selectUsers, type User, updateUserActive } from './user-store.ts';

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
export async function createUser(sql: Sql, input: NewUser): Promise<User> {
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
  return answeringConstraints({ user_email_key: emailIsTaken }, () => insertUser(sql, data));
}

/** Oldest first; all of them, or the members of one organization. */
export async function listUsers(sql: Sql, filter: { organizationId?: string } = {}): Promise<User[]> {
  return selectUsers(sql, filter.organizationId ?? null);
}

/** Finds a user by id or by e-mail address, however it is written. @throws AppError `not_found`. */
export async function getUser(sql: Sql, by: { id: number } | { email: string }): Promise<User> {
  const sought = 'email' in by ? { email: by.email.trim().toLowerCase() } : by;
  const found = 'email' in sought || isRowId(sought.id) ? await findUser(sql, sought) : undefined;
  if (!found) throw notFound('User');
  return found;
}

/**
 * Lets a user in again or keeps them out; keys of an inactive user do not work, and their sessions end.
 * @throws AppError `not_found`.
 */
export async function setUserActive(sql: Sql, userId: number, isActive: boolean): Promise<User> {
  const changed = isRowId(userId) ? await updateUserActive(sql, userId, isActive) : undefined;
  if (!changed) throw notFound('User');
  if (!isActive) await endSessionsOf(sql, userId);
  return changed;
}

function emailIsTaken(cause: unknown): AppError {
  return new AppError('conflict', 'There is already a user with this email address.', {
    code: 'unique',
    attr: 'email',
    cause,
  });
}
