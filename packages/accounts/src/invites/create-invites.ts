/** Creates invites. An invite must not grant more access than the inviter and the inviter's key have. */

import { randomUUID } from 'node:crypto';
import { allScopes, includesScope, isObject, membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError, hasLink } from '@millrace/runtime';
import { recordActivity } from '../activity/record-activity.ts';
import { checkName, invalidField, notFound } from '../input.ts';
import { findMember, isMember } from '../members/member-store.ts';
import { type LockedOrganization, lockOrganization } from '../organizations/organization-store.ts';
import { deleteInvite, findGrantableLevels, findPendingInvite, insertInvite } from './invite-store.ts';
import { isInviteExpired, newInviteSecrets } from './invites.ts';

/**
 * Creates several invites, or none of them if one is invalid (docs/api/invites.md).
 *
 * @param invites.explain adds the position of an invite to its error
 * @returns the created invites in order. If a person is invited twice, only the last invite remains.
 * @throws AppError like `createInvite`, or `not_found` if the inviter is not a member
 */
export async function createInvites(
  tx: Transaction,
  inviter: Omit<Inviter, 'level'>,
  { invites, now, explain }: { invites: NewInvite[]; now: Date; explain: (index: number, error: unknown) => unknown },
): Promise<{ organization: LockedOrganization; created: CreatedInvite[] }> {
  const { organizationId, userId } = inviter;
  const organization = await lockOrganization(tx, organizationId);
  // Check while the lock is held, because the inviter may just have been removed or demoted.
  const own = await findMember(tx, inviter);
  if (!own) throw notFound('Organization');
  if (!organization.members_can_invite && own.level < membershipLevels.administrator)
    throw new AppError('forbidden', 'Only administrators and owners of this organization can invite people.');
  const madeFor = new Map<string, CreatedInvite>();
  for (const [index, invite] of invites.entries()) {
    const result = await createInvite(tx, { ...inviter, level: own.level }, { invite, now }).catch((error) => {
      throw explain(index, error);
    });
    // A later invite in the same request replaces the person's earlier invite.
    madeFor.delete(result.emailKey);
    madeFor.set(result.emailKey, result);
  }
  const created = [...madeFor.values()];
  for (const { id, targetEmail } of created) {
    await recordActivity(tx, {
      organizationId,
      scope: 'OrganizationInvite',
      itemId: id,
      activity: 'created',
      actor: { userId },
      name: targetEmail,
    });
  }
  return { organization, created };
}

export interface Inviter {
  organizationId: string;
  userId: number;
  /**
   * The inviter's level in the organization. The organization is locked, so that two requests cannot invite the same
   * person concurrently.
   */
  level: number;
  key: InvitingKey;
}

export interface NewInvite {
  targetEmail: string;
  firstName?: string | undefined;
  /** The membership level that the invite grants. The default is 1. */
  level?: number | undefined;
  message?: string | null | undefined;
  /** Access to private projects. `parseProjectGrants` has already validated this value. */
  privateProjectAccess?: unknown;
  /** Whether to send the invite by email. The default is true. */
  sendEmail?: boolean | undefined;
  /** Whether to keep the access that the person's pending invite grants. The default is false. */
  combinePendingInvites?: boolean | undefined;
}

interface Granted {
  level: number;
  grants: ProjectGrant[] | null;
}

/**
 * A created invite, with two secrets that are not stored. The email contains `mailed`, and the invite's creator sees
 * `shown`.
 */
interface CreatedInvite {
  id: string;
  secrets: { mailed: string; shown: string };
  targetEmail: string;
  emailKey: string;
}

/**
 * Creates an invite (docs/api/invites.md), and replaces a pending invite of the same person.
 * @throws AppError `invalid` naming the field, or `forbidden` if the invite grants more than the inviter or the key has
 */
async function createInvite(
  tx: Transaction,
  inviter: Inviter,
  { invite, now }: { invite: NewInvite; now: Date },
): Promise<CreatedInvite> {
  const { organizationId } = inviter;
  const requested = {
    level: invite.level ?? membershipLevels.member,
    grants: parseProjectGrants(invite.privateProjectAccess),
  };
  await requirePowers(tx, inviter, requested);
  const targetEmail = withLowerCaseDomain(invite.targetEmail);
  const emailKey = targetEmail.toLowerCase();
  if (await isMember(tx, organizationId, emailKey)) {
    throw new AppError('invalid', 'A user with this email address already belongs to the organization.', {
      code: 'invalid_input',
    });
  }
  const granted = await replacePending(tx, organizationId, { emailKey, requested, invite, now });
  // Keep access that another inviter granted only if this inviter could grant it too.
  if (granted !== requested) await requirePowers(tx, inviter, granted);
  const { hash, ...secrets } = newInviteSecrets();
  // Use a random ID, because a time-ordered ID could be guessed from other IDs.
  const id = randomUUID();
  await insertInvite(tx, {
    id,
    organizationId,
    targetEmail,
    emailKey,
    firstName: checkName('first_name', invite.firstName ?? '', { maxLength: 30, isBlankAllowed: true }),
    ...granted,
    createdById: inviter.userId,
    message: checkMessage(invite.message ?? null),
    sendEmail: invite.sendEmail ?? true,
    combinePendingInvites: invite.combinePendingInvites ?? false,
    tokenHash: hash,
    key: inviter.key,
  });
  return { id, secrets, targetEmail, emailKey };
}

/** Rejects links, because the inviter can send the message to any email address. */
function checkMessage(message: string | null): string | null {
  if (message === null || !hasLink(message)) return message;
  throw invalidField('message', 'invalid_input', 'A message cannot contain links ("://").');
}

async function requirePowers(tx: Transaction, inviter: Inviter, { level, grants }: Granted): Promise<void> {
  if (grants) checkGrants(grants, await findGrantableLevels(tx, inviter));
  if (level > inviter.level) {
    throw new AppError('forbidden', 'You cannot invite a user with a higher permission level than your own.');
  }
  requireFullReach(inviter.key, Math.max(level, ...(grants ?? []).map((grant) => grant.level)));
}

/** Deletes the person's pending invite. If requested, adds its access to the new invite unless it has expired. */
async function replacePending(
  tx: Transaction,
  organizationId: string,
  { emailKey, requested, invite, now }: { emailKey: string; requested: Granted; invite: NewInvite; now: Date },
): Promise<Granted> {
  const pending = await findPendingInvite(tx, organizationId, emailKey);
  if (!pending) return requested;
  await deleteInvite(tx, pending.id, organizationId);
  if (!invite.combinePendingInvites || isInviteExpired(pending, now)) return requested;
  const grants = combineGrants(requested.grants ?? [], pending.private_project_access ?? []);
  return { level: Math.max(requested.level, pending.level), grants: grants.length > 0 ? grants : null };
}

function withLowerCaseDomain(address: string): string {
  const at = address.lastIndexOf('@');
  return address.slice(0, at) + address.slice(at).toLowerCase();
}

/** The restrictions of the key that creates an invite. The invited user's first key gets the same restrictions. */
interface InvitingKey {
  scopes: readonly string[];
  /** Whether the key is limited to some organizations. Keys that are limited to environments cannot create invites. */
  isLimited: boolean;
  expiresAt: Date | null;
}

/**
 * Requires a key with all scopes for inviting administrators. The invited person may already have an account with an
 * unrestricted key, which would then have more access than the inviting key.
 * @param level the highest level that the invite grants, in the organization or an environment
 * @throws AppError `forbidden`
 */
function requireFullReach({ scopes }: InvitingKey, level: number): void {
  if (level <= membershipLevels.member || allScopes.every((scope) => includesScope(scopes, scope))) return;
  throw new AppError('forbidden', 'Inviting with a level above 1 requires an API key with all scopes.');
}

export interface ProjectGrant {
  id: number;
  /** Level in the environment: 1 (member) or 8 (administrator). */
  level: number;
}

const grantable: readonly number[] = [membershipLevels.member, membershipLevels.administrator];

/**
 * Parses `private_project_access` (docs/api/invites.md). An empty list is treated as null.
 * @throws AppError `invalid` naming the field.
 */
function parseProjectGrants(value: unknown): ProjectGrant[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw wrong('The field must be a list of dictionaries.');
  const grants = value.map(parseGrant);
  return grants.length === 0 ? null : combineGrants(grants, []);
}

function parseGrant(item: unknown): ProjectGrant {
  if (!isObject(item)) throw wrong('Each item in the list must be a dictionary.');
  const { id, level } = item;
  if (id === undefined || level === undefined) throw wrong('Each dictionary must contain "id" and "level" keys.');
  if (typeof id !== 'number' || !Number.isInteger(id)) throw wrong('The "id" field must be an integer.');
  if (typeof level !== 'number' || !grantable.includes(level)) {
    throw wrong('The "level" field must be either "member" or "admin".');
  }
  return { id, level };
}

/** Merges two lists of grants. If both lists contain an environment, the higher level applies. */
function combineGrants(grants: readonly ProjectGrant[], others: readonly ProjectGrant[]): ProjectGrant[] {
  const levels = new Map<number, number>();
  for (const { id, level } of [...grants, ...others]) levels.set(id, Math.max(level, levels.get(id) ?? 0));
  return [...levels].map(([id, level]) => ({ id, level })).sort((one, other) => one.id - other.id);
}

/**
 * Checks that the inviter may grant these levels.
 * @param levels the inviter's own level in each environment of the organization that the inviter can see
 * @throws AppError `invalid` naming the field
 */
function checkGrants(grants: readonly ProjectGrant[], levels: ReadonlyMap<number, number>): void {
  for (const { id, level } of grants) {
    const own = levels.get(id);
    if (own === undefined) {
      throw wrong('Project does not exist on this organization, or it is private and you do not have access to it.');
    }
    if (level > own) throw wrong('You cannot invite to a private project with a higher level than your own.');
  }
}

function wrong(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr: 'private_project_access' });
}
