/**
 * Lets the identity provider of a verified domain manage the domain's users through SCIM (docs/api/scim.md). The
 * provider adds users of the domain to the organization, changes and removes them, and assigns roles. The provider has
 * no access to other users.
 */

import { membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError, isAppError, toPlainName } from '@millrace/runtime';
import { recordOwnActivity } from '../activity/record-activity.ts';
import { listHostSpellings } from '../domains/owner-addresses.ts';
import { checkEmail, invalidField, isUuid, notFound, parseEmailAddress } from '../input.ts';
import { acceptInvite } from '../invites/accept-invite.ts';
import { findPendingInvite } from '../invites/invite-store.ts';
import { isInviteExpired } from '../invites/invites.ts';
import { lockUserKeys } from '../keys/personal-api-key-store.ts';
import { isAddressBlocked } from '../members/blocked-addresses.ts';
import { findMember } from '../members/member-store.ts';
import { addMember, removeMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import { assignRole, unassignRole } from '../roles/roles.ts';
import { endUserSessions } from '../sign-in/sessions.ts';
import { parseEmailDomain } from '../single-sign-on/enforcement.ts';
import { claimAccount } from '../single-sign-on/provider-sign-in.ts';
import { findUser, selectUserOrganizations, type User, updateUser } from '../users/user-store.ts';
import { changeEmail, createUser } from '../users/users.ts';

/** The verified domain of an authenticated identity provider. */
export interface ScimDomain {
  id: string;
  organizationId: string;
  /** The domain name in lower-case ASCII. */
  name: string;
  /** Whether the user who created the token is still an owner of the organization. */
  mayChangeOwners: boolean;
}

export interface ScimUserFields {
  /** The user's email address. SCIM calls it the user name. */
  userName: string;
  firstName: string;
  lastName: string;
  externalId: string | null;
  isActive: boolean;
}

/** A user of the domain: an organization member, or a user whom the provider has deactivated. */
export interface ScimUser extends Record<string, unknown> {
  userId: number;
  uuid: string;
  email: string;
  first_name: string;
  last_name: string;
  external_id: string | null;
  is_active: boolean;
  created_at: Date;
  updated_at: Date;
  roles: { id: string; name: string }[];
}

const longestName = 150;

/** @throws AppError `invalid` naming `userName` */
function checkAddress({ name }: ScimDomain, userName: string): string {
  const email = checkEmail('userName', userName);
  if (parseEmailDomain(email) === name) return email;
  throw invalidField('userName', 'invalid_input', `userName must be an email address in the domain ${name}.`);
}

/**
 * Adds a user to the organization. If an account has this email address, uses that account, and otherwise creates one.
 *
 * @returns the user's UUID, and whether the account already existed with an unverified address. In that case, its
 * credentials were removed, and the user gets an email.
 * @throws AppError `invalid` naming `userName`, `conflict` for an existing user, or `forbidden` for a blocked address
 * or an account that the operator has deactivated
 */
export async function provisionUser(
  tx: Transaction,
  domain: ScimDomain,
  fields: ScimUserFields & { now: Date },
): Promise<{ uuid: string; isClaimed: boolean }> {
  const email = checkAddress(domain, fields.userName);
  await lockOrganization(tx, domain.organizationId);
  const found = await findUser(tx, { email });
  if (found && (await isKnown(tx, domain, found.id))) {
    throw new AppError('conflict', `A user with the email address ${email} already exists.`, { code: 'uniqueness' });
  }
  const user = found ?? (await makeUser(tx, domain, { ...fields, email }));
  await lockUserKeys(tx, user.id);
  const isClaimed = found !== undefined && !found.is_email_verified;
  if (isClaimed) await claimAccount(tx, found);
  await noteUser(tx, domain, { userId: user.id, externalId: fields.externalId });
  // Keep an existing name if the provider does not send a name.
  if (found && fields.firstName + fields.lastName !== '') await writeNames(tx, domain, found, fields);
  if (fields.isActive) await letJoin(tx, domain, { user, now: fields.now });
  return { uuid: user.uuid, isClaimed };
}

async function makeUser(
  tx: Transaction,
  { name }: ScimDomain,
  { email, firstName, lastName }: ScimUserFields & { email: string },
): Promise<User> {
  const user = await createUser(tx, { email, ...cutNames({ firstName, lastName }), isEmailVerified: true });
  await recordOwnActivity(tx, user, { activity: 'created', actor: { scimDomain: name } });
  return user;
}

function cutNames({ firstName, lastName }: Pick<ScimUserFields, 'firstName' | 'lastName'>) {
  const cut = (text: string) => [...toPlainName(text).trim()].slice(0, longestName).join('');
  return { firstName: cut(firstName), lastName: cut(lastName) };
}

async function writeNames(
  tx: Transaction,
  { name }: ScimDomain,
  user: Pick<User, 'id' | 'uuid' | 'email' | 'first_name' | 'last_name'>,
  fields: Pick<ScimUserFields, 'firstName' | 'lastName'>,
): Promise<void> {
  const { firstName: first_name, lastName: last_name } = cutNames(fields);
  const after = { first_name, last_name };
  const before = { first_name: user.first_name, last_name: user.last_name };
  await updateUser(tx, user.id, after);
  await recordOwnActivity(tx, user, { activity: 'updated', actor: { scimDomain: name }, change: { before, after } });
}

/**
 * Adds the user with the level of a pending invite, or as a member if there is no invite.
 * @throws AppError `forbidden`.
 */
async function letJoin(
  tx: Transaction,
  { organizationId, name }: ScimDomain,
  { user, now }: { user: User; now: Date },
): Promise<void> {
  if (!user.is_active)
    throw new AppError('forbidden', 'The operator of this installation has deactivated the account.');
  const invite = await findPendingInvite(tx, organizationId, user.email);
  if (invite && !isInviteExpired(invite, now)) {
    await acceptInvite(tx, invite.id, { now, chooseUser: async () => user });
    return;
  }
  if (await isAddressBlocked(tx, organizationId, user.email)) {
    throw new AppError('forbidden', 'An administrator of the organization has blocked this email address.');
  }
  const level = membershipLevels.member;
  await addMember(tx, { organizationId, userId: user.id, level, actor: { scimDomain: name } });
}

/**
 * Changes a user. Deactivating a user removes the user from the organization, but keeps the account. A new email
 * address ends all sessions of the user.
 * @returns the previous email address, or null if it did not change
 * @throws AppError the errors of `provisionUser`; `not_found`; `conflict` for the last owner or another user's email
 *   address
 */
export async function changeProvisionedUser(
  tx: Transaction,
  domain: ScimDomain,
  { uuid, fields, now }: { uuid: string; fields: ScimUserFields; now: Date },
): Promise<string | null> {
  await lockOrganization(tx, domain.organizationId);
  const before = await findScimUser(tx, domain, uuid);
  if (!before) throw notFound('User');
  const user = await findUser(tx, { id: before.userId });
  if (!user) throw notFound('User');
  await lockUserKeys(tx, user.id);
  const email =
    parseEmailAddress(fields.userName) === before.email ? before.email : checkAddress(domain, fields.userName);
  if (email !== before.email || (before.is_active && !fields.isActive)) await refuseOwner(tx, domain, user.id);
  if (email !== before.email) await changeAddress(tx, domain, { user, email });
  await noteUser(tx, domain, { userId: user.id, externalId: fields.externalId });
  await writeNames(tx, domain, { ...user, email }, fields);
  if (fields.isActive && !before.is_active) await letJoin(tx, domain, { user: { ...user, email }, now });
  if (!fields.isActive && before.is_active) await takeOut(tx, domain, user.id);
  return email === before.email ? null : before.email;
}

async function changeAddress(
  tx: Transaction,
  { name }: ScimDomain,
  { user, email }: { user: User; email: string },
): Promise<void> {
  try {
    await changeEmail(tx, user, email, { scimDomain: name });
    await endUserSessions(tx, user.id);
  } catch (error) {
    if (!isAppError(error, 'invalid')) throw error;
    throw new AppError('conflict', error.message, { code: 'uniqueness', cause: error });
  }
}

/**
 * Removes a user from the organization and from the provider's user list.
 * @throws AppError like `changeProvisionedUser`
 */
export async function removeProvisionedUser(tx: Transaction, domain: ScimDomain, uuid: string): Promise<void> {
  await lockOrganization(tx, domain.organizationId);
  const user = await findScimUser(tx, domain, uuid);
  if (!user) throw notFound('User');
  if (await findMember(tx, { organizationId: domain.organizationId, userId: user.userId })) {
    await refuseOwner(tx, domain, user.userId);
    await takeOut(tx, domain, user.userId);
  }
  await tx.query('DELETE FROM scim_user WHERE domain_id = $1 AND user_id = $2', [domain.id, user.userId]);
}

/**
 * Allows changes to an owner only if an owner created the token. Administrators can create tokens too. Without this
 * check, they could take over an owner's account by changing its email address and resetting the password.
 * @throws AppError `forbidden`
 */
async function refuseOwner(
  tx: Transaction,
  { organizationId, mayChangeOwners }: ScimDomain,
  userId: number,
): Promise<void> {
  if (mayChangeOwners) return;
  const member = await findMember(tx, { organizationId, userId });
  if (member?.level !== membershipLevels.owner) return;
  throw new AppError(
    'forbidden',
    'SCIM can remove owners or change their email address only with a token that an owner created. Ask an owner to ' +
      'create a new token.',
  );
}

/**
 * Removes a user from the organization. If the user has no other organization, also ends the user's sessions. Any other
 * session loses access to this organization with its next request.
 */
async function takeOut(tx: Transaction, { organizationId, name }: ScimDomain, userId: number): Promise<void> {
  await removeMember(tx, { organizationId, userId, actor: { scimDomain: name } });
  if ((await selectUserOrganizations(tx, userId)).length === 0) await endUserSessions(tx, userId);
}

async function noteUser(
  tx: Transaction,
  { id }: ScimDomain,
  { userId, externalId }: { userId: number; externalId: string | null },
): Promise<void> {
  await tx.query(
    `INSERT INTO scim_user (domain_id, user_id, external_id) VALUES ($1, $2, $3)
     ON CONFLICT (domain_id, user_id) DO UPDATE SET external_id = excluded.external_id, updated_at = clock_timestamp()`,
    [id, userId, externalId],
  );
}

async function isKnown(tx: Transaction, { id, organizationId }: ScimDomain, userId: number): Promise<boolean> {
  const rows = await tx.query('SELECT FROM scim_user WHERE domain_id = $1 AND user_id = $2', [id, userId]);
  return rows.length > 0 || (await findMember(tx, { organizationId, userId })) !== undefined;
}

export interface ScimUserFilter {
  uuid?: string;
  email?: string;
  externalId?: string;
}

/** Returns a page of the domain's users, oldest first, and the total count. */
export async function listScimUsers(
  sql: Sql,
  { id, organizationId, name }: ScimDomain,
  { filter, limit, offset }: { filter: ScimUserFilter; limit: number; offset: number },
): Promise<{ count: number; rows: ScimUser[] }> {
  const known = `FROM "user" u
      LEFT JOIN membership m ON m.user_id = u.id AND m.organization_id = $2
      LEFT JOIN scim_user s ON s.user_id = u.id AND s.domain_id = $1
     WHERE u.id IN (SELECT user_id FROM membership WHERE organization_id = $2
                    UNION SELECT user_id FROM scim_user WHERE domain_id = $1)
       AND split_part(u.email, '@', 2) = ANY ($3::text[])
       AND ($4::text IS NULL OR u.uuid::text = $4) AND ($5::text IS NULL OR u.email = $5)
       AND ($6::text IS NULL OR s.external_id = $6)`;
  const values = [id, organizationId, listHostSpellings(name), filter.uuid, filter.email, filter.externalId].map(
    (value) => value ?? null,
  );
  const [[counted], rows] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count ${known}`, values),
    sql.query<ScimUser>(
      `SELECT u.id AS "userId", u.uuid, u.email, u.first_name, u.last_name, s.external_id,
              m.id IS NOT NULL AND u.is_active AS is_active,
              coalesce(s.created_at, m.joined_at) AS created_at,
              greatest(s.updated_at, m.updated_at) AS updated_at,
              coalesce((SELECT json_agg(json_build_object('id', r.id, 'name', r.name) ORDER BY lower(r.name))
                          FROM role_membership held JOIN role r ON r.id = held.role_id
                         WHERE held.membership_id = m.id), '[]') AS roles
         ${known} ORDER BY u.id LIMIT $7 OFFSET $8`,
      [...values, limit, offset],
    ),
  ]);
  return { count: counted?.count ?? 0, rows };
}

export async function findScimUser(sql: Sql, domain: ScimDomain, uuid: string): Promise<ScimUser | undefined> {
  const filter = { uuid: uuid.toLowerCase() };
  return (await listScimUsers(sql, domain, { filter, limit: 1, offset: 0 })).rows[0];
}

/**
 * Sets which users of the domain have a role. Other members of the organization are not affected.
 * @param members UUIDs of users. `set` replaces all users of the domain, and `add` and `remove` change only the listed
 *   users.
 * @throws AppError `invalid` for a user who is not active or not in the domain
 */
export async function changeRoleMembers(
  tx: Transaction,
  domain: ScimDomain,
  { roleId, members }: { roleId: string; members: { set: string[] } | { add: string[]; remove: string[] } },
): Promise<void> {
  await lockOrganization(tx, domain.organizationId);
  const current = await listRoleHoldersInDomain(tx, domain, roleId);
  const has = new Map(current.map(({ uuid, id }) => [uuid, id]));
  const requested = new Set('set' in members ? members.set : members.add);
  const removed = 'set' in members ? [...has.keys()].filter((uuid) => !requested.has(uuid)) : members.remove;
  const added = [...requested].filter((uuid) => !has.has(uuid));
  const active = await selectActive(tx, domain, added.filter(isUuid));
  const of = { organizationId: domain.organizationId, actor: { scimDomain: domain.name }, roleId };
  for (const uuid of added) {
    if (!active.has(uuid)) {
      throw invalidField(
        'members',
        'invalid_input',
        `${uuid.slice(0, 100)} is not the ID of an active user of ${domain.name}.`,
      );
    }
    await assignRole(tx, { ...of, userUuid: uuid });
  }
  for (const uuid of removed) {
    const id = has.get(uuid);
    if (id !== undefined) await unassignRole(tx, { ...of, id });
  }
}

/**
 * Rejects changes to a role that users outside the domain also have. Renaming or deleting the role would affect these
 * users' access.
 * @throws AppError `forbidden`
 */
export async function requireRoleWithinDomain(tx: Transaction, { name }: ScimDomain, roleId: string): Promise<void> {
  const others = await tx.query(
    `SELECT FROM role_membership held JOIN membership m ON m.id = held.membership_id JOIN "user" u ON u.id = m.user_id
      WHERE held.role_id = $1 AND split_part(u.email, '@', 2) <> ALL ($2::text[]) LIMIT 1`,
    [roleId, listHostSpellings(name)],
  );
  if (others.length === 0) return;
  throw new AppError(
    'forbidden',
    `The role has members outside the domain ${name}. Rename or delete the role in the console, or remove these members first.`,
  );
}

/**
 * Returns those of the given users who are active members of the organization and have an email address in the domain.
 */
async function selectActive(
  sql: Sql,
  { organizationId, name }: ScimDomain,
  uuids: readonly string[],
): Promise<Set<string>> {
  const rows = await sql.query<{ uuid: string }>(
    `SELECT u.uuid FROM membership m JOIN "user" u ON u.id = m.user_id
      WHERE m.organization_id = $1 AND u.uuid = ANY ($2::uuid[]) AND u.is_active
        AND split_part(u.email, '@', 2) = ANY ($3::text[])`,
    [organizationId, uuids, listHostSpellings(name)],
  );
  return new Set(rows.map(({ uuid }) => uuid));
}

export async function listRoleHoldersInDomain(
  sql: Sql,
  { organizationId, name }: ScimDomain,
  roleId: string,
): Promise<{ id: string; uuid: string; email: string }[]> {
  return sql.query(
    `SELECT held.id, u.uuid, u.email
       FROM role_membership held JOIN membership m ON m.id = held.membership_id JOIN "user" u ON u.id = m.user_id
      WHERE held.role_id = $1 AND m.organization_id = $2 AND split_part(u.email, '@', 2) = ANY ($3::text[])
      ORDER BY held.joined_at, held.id`,
    [roleId, organizationId, listHostSpellings(name)],
  );
}
