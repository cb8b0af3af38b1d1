import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { type Actor, recordOwnActivity } from '../activity/record-activity.ts';
import {
  checkEmail,
  checkName,
  checkText,
  isRowId,
  mapConstraintErrors,
  notFound,
  parseEmailAddress,
} from '../input.ts';
import { removeMember } from '../members/members.ts';
import { endUserSessions } from '../sign-in/sessions.ts';
import { deleteLinks } from '../sign-in/sign-in-store.ts';
import {
  deleteUser,
  findUser,
  insertUser,
  selectUserOrganizations,
  selectUsers,
  type User,
  type UserFields,
  updateEmail,
  updateUser,
  updateUserActive,
} from './user-store.ts';

export interface NewUser {
  email: string;
  /** First and last name, with at most 150 characters each. */
  firstName?: string;
  lastName?: string;
  roleAtOrganization?: string;
  isEmailVerified?: boolean;
}

/**
 * Creates a user. The address is stored in lower case.
 * @throws AppError `invalid` naming the field, or `conflict` naming `email` when the address is taken.
 */
export async function createUser(sql: Sql, input: NewUser): Promise<User> {
  const data = {
    uuid: uuidv7(),
    distinct_id: uuidv4(),
    email: checkEmail('email', input.email),
    first_name: checkName('first_name', input.firstName ?? '', { maxLength: 150, isBlankAllowed: true }),
    last_name: checkName('last_name', input.lastName ?? '', { maxLength: 150, isBlankAllowed: true }),
    role_at_organization: checkText('role_at_organization', input.roleAtOrganization ?? '', {
      maxLength: 64,
      isBlankAllowed: true,
    }),
    is_email_verified: input.isEmailVerified ?? false,
  };
  return mapConstraintErrors({ user_email_key: emailIsTaken }, () => insertUser(sql, data));
}

/** Lists all users, or those of an organization, oldest first. */
export async function listUsers(sql: Sql, filter: { organizationId?: string } = {}): Promise<User[]> {
  return selectUsers(sql, filter.organizationId ?? null);
}

/** Finds a user by ID or by email address. Ignores the case of the email address. @throws AppError `not_found` */
export async function getUser(sql: Sql, by: { id: number } | { email: string }): Promise<User> {
  const sought = 'email' in by ? { email: parseEmailAddress(by.email) ?? by.email } : by;
  const found = 'email' in sought || isRowId(sought.id) ? await findUser(sql, sought) : undefined;
  if (!found) throw notFound('User');
  return found;
}

/**
 * Activates or deactivates a user. The keys of an inactive user are invalid. Deactivation permanently ends the user's
 * sessions, incomplete sign-ins and links.
 * @throws AppError `not_found`
 */
export async function setUserActive(sql: Sql, userId: number, isActive: boolean): Promise<User> {
  const changed = isRowId(userId) ? await updateUserActive(sql, userId, isActive) : undefined;
  if (!changed) throw notFound('User');
  if (!isActive) {
    await endUserSessions(sql, userId);
    await deleteLinks(sql, userId);
  }
  return changed;
}

/** @throws AppError `invalid` naming `first_name` or `last_name` */
export async function changeUserFields(tx: Transaction, userId: number, fields: UserFields): Promise<void> {
  const named: UserFields = { ...fields };
  for (const attr of ['first_name', 'last_name'] as const) {
    const name = fields[attr];
    if (name !== undefined) named[attr] = checkName(attr, name, { maxLength: 150, isBlankAllowed: true });
  }
  await updateUser(tx, userId, named);
}

/**
 * Changes the email address of an account to one that the user has verified. Password reset links that were sent to the
 * previous address become invalid.
 * @throws AppError `invalid` with code `email_taken` for the field `email`
 */
export async function changeEmail(
  tx: Transaction,
  user: Pick<User, 'id' | 'uuid' | 'email'>,
  email: string,
  actor: Actor = { userId: user.id },
): Promise<void> {
  const isTaken = (cause: unknown) =>
    new AppError('invalid', 'Another account already uses this email address.', {
      code: 'email_taken',
      attr: 'email',
      cause,
    });
  await mapConstraintErrors({ user_email_key: isTaken }, () => updateEmail(tx, user.id, email));
  await deleteLinks(tx, user.id);
  const change = { before: { email: user.email }, after: { email } };
  await recordOwnActivity(tx, { ...user, email }, { activity: 'updated', actor, change });
}

/**
 * Removes an account at the user's request, with its keys, sessions and memberships. Everything that the user created
 * remains.
 * @throws AppError `invalid` for an owner of an organization
 */
export async function removeUser(tx: Transaction, user: Pick<User, 'id' | 'uuid' | 'email'>): Promise<void> {
  const actor = { userId: user.id };
  // Sort the organizations, because all code that locks several organizations uses this order.
  for (const organizationId of await selectUserOrganizations(tx, user.id)) {
    await removeMember(tx, { organizationId, userId: user.id, actor });
  }
  await recordOwnActivity(tx, user, { activity: 'deleted' });
  await deleteUser(tx, user.id);
}

function emailIsTaken(cause: unknown): AppError {
  return new AppError('conflict', 'There is already a user with this email address.', {
    code: 'unique',
    attr: 'email',
    cause,
  });
}
