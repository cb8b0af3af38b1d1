/**
 * Determines the account for a sign-in through an identity provider (docs/api/single-sign-on.md): the linked account,
 * the account with the reported email address, or a new account.
 *
 * The reported address is used only to link or create an account, and only if the provider has verified it. The
 * account's own verified address determines its domain, what the domain enforces, and which organization the account
 * can join. If the domain's own provider has verified the reported address,
 * and the address is in that domain, it also replaces the address of a linked account.
 */

import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError, toPlainName } from '@millrace/runtime';
import { recordActivity, recordOwnActivity } from '../activity/record-activity.ts';
import { acceptInvite } from '../invites/accept-invite.ts';
import { findPendingInvite } from '../invites/invite-store.ts';
import { isInviteExpired } from '../invites/invites.ts';
import { limitUnrestrictedKeys, lockUserKeys } from '../keys/personal-api-key-store.ts';
import { isAddressBlocked } from '../members/blocked-addresses.ts';
import { findMember } from '../members/member-store.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import {
  type AddressDomain,
  deleteAccountCredentials,
  findAddressDomain,
  findUserByIdentity,
  insertIdentity,
  type ProviderIdentity,
  type ProviderKind,
  recordProviderProof,
} from '../sign-in/provider-store.ts';
import { endUserSessions } from '../sign-in/sessions.ts';
import { confirmEmail, findUser, setCurrentEnvironment, type User } from '../users/user-store.ts';
import { changeEmail, createUser } from '../users/users.ts';
import { getEnforcedProvider, type InstalledProviders, isDomainProvider, parseEmailDomain } from './enforcement.ts';

/** A person as reported by a provider, in a response that was authentic, recent, and intended for this installation. */
export interface ProviderProfile {
  kind: ProviderKind;
  /** The ID of the domain that the provider belongs to, or null for a provider of the installation. */
  domainId: string | null;
  /** An OpenID provider's issuer, a SAML provider's entity ID, or a GitHub server's URL. */
  issuer: string;
  /**
   * The provider's identifier for the person (`isProviderSubject`). It stays the same when the email address changes.
   */
  subject: string;
  /**
   * The email address in lower case. Null if the provider reported no address, or an address that an account cannot
   * have.
   */
  email: string | null;
  isEmailVerified: boolean;
  firstName: string;
  lastName: string;
}

/**
 * Returns whether a string can be a provider's identifier for a person. The maximum length is 256 characters as in
 * SAML. OpenID Connect allows 255.
 */
export const isProviderSubject = (text: string): boolean => /^(?=.*\S)\P{Cc}{1,256}$/u.test(text);

export type ProviderSignInRefusal =
  | 'account_disabled'
  | 'no_email'
  | 'email_not_verified'
  | 'other_domain'
  | 'kept_out'
  | 'jit_not_enabled'
  | 'no_new_organizations'
  | { enforced: ProviderKind };

export type ProviderSignIn =
  | { outcome: 'refused'; reason: ProviderSignInRefusal }
  | {
      outcome: 'signed_in';
      user: User;
      /** The verified domain of the account's email address, if that address is verified. */
      domain: AddressDomain | undefined;
      /** Changes that the user is notified about by email. */
      changed: ('linked' | 'claimed')[];
      /** The account's previous address, if the provider changed it. */
      emailBefore: string | null;
      /**
       * Whether this sign-in activated the domain's SSO enforcement. An administrator's first sign-in through the
       * provider does.
       */
      isEnforcedNow: boolean;
    };

/**
 * Returns the key that identifies a person at a provider. The key includes the issuer: if a domain replaces its
 * provider, the same subject is a different person.
 */
const identityOf = ({ kind, domainId, issuer, subject }: ProviderProfile): ProviderIdentity => ({
  provider: domainId === null ? kind : `${kind}:${domainId}`,
  issuer,
  subject,
});

/**
 * Signs a person in through a provider. Finds or creates the account. Adds it to the organization of its domain if the
 * user was invited or the organization adds users automatically.
 *
 * Locks the organization before reading its members, as all changes to members do. If two first sign-ins run
 * concurrently, the second one finds the account that the first one created.
 */
export async function signInThroughProvider(
  tx: Transaction,
  profile: ProviderProfile,
  { now, installedProviders }: { now: Date; installedProviders: InstalledProviders },
): Promise<ProviderSignIn> {
  const linked = await findLinked(tx, profile);
  const own = linked?.email ?? profile.email;
  if (own === null) return createRefusal('no_email');
  if (!linked && !profile.isEmailVerified) return createRefusal('email_not_verified');

  const place = await lockDomainOf(tx, own);
  const refusal = await refusalOf(tx, profile, { place, installedProviders });
  if (refusal !== null) return createRefusal(refusal);
  const found = linked ?? (await findUser(tx, { email: own }));
  if (found && !found.is_active) return createRefusal('account_disabled');

  const email = linked ? await addressAfter(tx, linked, profile) : own;
  const isVerified = !linked || linked.is_email_verified || email !== own;
  const domain = isVerified ? place : undefined;
  const entry = domain && (await entryOf(tx, domain, { user: found, email, now }));
  if (!found && (entry === undefined || entry === 'blocked')) {
    return createRefusal(entry === 'blocked' ? 'kept_out' : domain ? 'jit_not_enabled' : 'no_new_organizations');
  }

  let user = found ?? (await createArrived(tx, profile, own));
  await lockUserKeys(tx, user.id);
  const changed = linked ? [] : await link(tx, profile, { user, isNew: !found });
  if (email !== own) {
    await changeEmail(tx, user, email);
    user = { ...user, email, is_email_verified: true };
  }
  if (domain && entry && entry !== 'blocked') await enter(tx, domain, { user, entry, now });
  const isEnforcedNow =
    domain !== undefined && (await confirmEnforcement(tx, domain, { user, profile, installedProviders }));
  return { outcome: 'signed_in', user, domain, changed, emailBefore: email === own ? null : own, isEnforcedNow };
}

/**
 * Checks whether a provider's response confirms the identity of a session's user.
 * @returns the reason why not, or null if the identity is confirmed
 */
export async function findConfirmationRefusal(
  tx: Transaction,
  profile: ProviderProfile,
  { userId, installedProviders }: { userId: number; installedProviders: InstalledProviders },
): Promise<ProviderSignInRefusal | 'another_account' | null> {
  const linked = await findLinked(tx, profile);
  if (linked?.id !== userId) return 'another_account';
  const place = await findAddressDomain(tx, parseEmailDomain(linked.email));
  return refusalOf(tx, profile, { place, installedProviders });
}

const createRefusal = (reason: ProviderSignInRefusal): ProviderSignIn => ({ outcome: 'refused', reason });

async function findLinked(tx: Transaction, profile: ProviderProfile): Promise<User | undefined> {
  const id = await findUserByIdentity(tx, identityOf(profile));
  return id === undefined ? undefined : findUser(tx, { id });
}

/**
 * Locks the organization that has verified the domain of an email address, and reads the domain again under the lock.
 */
async function lockDomainOf(tx: Transaction, email: string): Promise<AddressDomain | undefined> {
  const name = parseEmailDomain(email);
  const unlockedDomain = await findAddressDomain(tx, name);
  if (!unlockedDomain) return undefined;
  await lockOrganization(tx, unlockedDomain.organization_id);
  return findAddressDomain(tx, name);
}

/**
 * Returns why a provider must not sign a person in to an account, or null if the sign-in is allowed. Both the domain of
 * the account's address and the domain of the reported address can reject the sign-in. An unverified address can cause
 * a rejection, but never grants access.
 * @param place domain of the account's own address, if it is verified
 */
async function refusalOf(
  tx: Transaction,
  profile: ProviderProfile,
  { place, installedProviders }: { place: AddressDomain | undefined; installedProviders: InstalledProviders },
): Promise<'other_domain' | { enforced: ProviderKind } | null> {
  const { email, domainId } = profile;
  const reported = email === null ? place : await findAddressDomain(tx, parseEmailDomain(email));
  // A domain's own provider is trusted only for email addresses in that domain.
  if (domainId !== null && (place?.id !== domainId || reported?.id !== domainId)) return 'other_domain';
  for (const domain of [place, reported]) {
    const enforced = domain ? getEnforcedProvider(domain, installedProviders) : null;
    if (domain && enforced !== null && !isDomainProvider(domain, enforced, profile)) return { enforced };
  }
  return null;
}

/**
 * Returns the email address of a linked account after the sign-in. The address changes only if the domain's own
 * provider has verified the new address and no other account has that address.
 */
async function addressAfter(
  tx: Transaction,
  linked: User,
  { email, isEmailVerified, domainId }: ProviderProfile,
): Promise<string> {
  const mayChange = domainId !== null && isEmailVerified && email !== null;
  if (!mayChange || parseEmailDomain(email) !== parseEmailDomain(linked.email)) return linked.email;
  return (await findUser(tx, { email })) === undefined ? email : linked.email;
}

/** @throws AppError `conflict` */
async function link(
  tx: Transaction,
  profile: ProviderProfile,
  { user, isNew }: { user: User; isNew: boolean },
): Promise<('linked' | 'claimed')[]> {
  const isUnproved = !user.is_email_verified;
  if (isUnproved) await claimAccount(tx, user);
  const { kind, domainId } = profile;
  if (!(await insertIdentity(tx, { ...identityOf(profile), user_id: user.id, domain_id: domainId }))) {
    throw new AppError('conflict', 'This sign-in was just used for a different account. Start again.');
  }
  if (isNew) return [];
  const change = { type: 'User', action: 'created', field: 'sign_in_provider', before: null } as const;
  await recordOwnActivity(tx, user, { activity: 'updated', changes: [{ ...change, after: kind }] });
  return isUnproved ? ['claimed', 'linked'] : ['linked'];
}

/**
 * Returns how an account joins the organization of the domain. Returns undefined if the account is already a member or
 * must not join, and `blocked` if the organization has blocked the email address.
 */
async function entryOf(
  tx: Transaction,
  { organization_id: organizationId, provisions, features }: AddressDomain,
  { user, email, now }: { user: User | undefined; email: string; now: Date },
): Promise<{ invite: string } | { level: 1 } | 'blocked' | undefined> {
  if (user && (await findMember(tx, { organizationId, userId: user.id }))) return undefined;
  const invite = await findPendingInvite(tx, organizationId, email);
  if (invite && !isInviteExpired(invite, now)) return { invite: invite.id };
  if (!provisions || !hasPlanFeature(features, 'automatic_provisioning')) return undefined;
  if (await isAddressBlocked(tx, organizationId, email)) return 'blocked';
  return { level: membershipLevels.member };
}

async function enter(
  tx: Transaction,
  { organization_id: organizationId }: AddressDomain,
  { user, entry, now }: { user: User; entry: { invite: string } | { level: 1 }; now: Date },
): Promise<void> {
  if ('invite' in entry) {
    await acceptInvite(tx, entry.invite, { now, chooseUser: async () => user });
    return;
  }
  await addMember(tx, { organizationId, userId: user.id, level: entry.level, actor: { userId: user.id } });
  if (user.current_organization_id !== null) return;
  await setCurrentEnvironment(tx, user.id, { organizationId, environmentId: user.current_environment_id });
}

async function createArrived(tx: Transaction, { firstName, lastName }: ProviderProfile, email: string): Promise<User> {
  const cut = (text: string) => [...toPlainName(text)].slice(0, 150).join('');
  const names = { firstName: cut(firstName), lastName: cut(lastName) };
  const user = await createUser(tx, { email, ...names, isEmailVerified: true });
  const about = { organizationId: null, scope: 'User', itemId: user.uuid, name: email } as const;
  await recordActivity(tx, { ...about, activity: 'created', actor: { userId: user.id } });
  return user;
}

/**
 * Gives an account with an unverified address to the owner of that address. Another person may have created the
 * account, so all its sign-in methods are removed, and its keys keep only their current access.
 */
export async function claimAccount(tx: Transaction, user: User): Promise<void> {
  await deleteAccountCredentials(tx, user.id);
  await endUserSessions(tx, user.id);
  await limitUnrestrictedKeys(tx, user.id, {});
  await confirmEmail(tx, user.id);
}

/**
 * Activates SSO enforcement with an administrator's first sign-in through the provider.
 * @returns whether the enforcement became active
 */
async function confirmEnforcement(
  tx: Transaction,
  domain: AddressDomain,
  {
    user,
    profile,
    installedProviders,
  }: { user: User; profile: ProviderProfile; installedProviders: InstalledProviders },
): Promise<boolean> {
  const { kind } = profile;
  if (!isDomainProvider(domain, kind, profile)) return false;
  const { id, organization_id: organizationId, domain: name } = domain;
  const member = await findMember(tx, { organizationId, userId: user.id });
  if (!member || member.level < membershipLevels.administrator || !(await recordProviderProof(tx, id, kind)))
    return false;
  const proved = { ...domain, sso_proved: [...domain.sso_proved, kind] };
  if (getEnforcedProvider(proved, installedProviders) !== kind) return false;
  await recordActivity(tx, {
    organizationId,
    scope: 'OrganizationDomain',
    itemId: id,
    name,
    activity: 'updated',
    actor: { userId: user.id },
    change: { before: { sso_enforcement_state: 'waiting' }, after: { sso_enforcement_state: 'active' } },
  });
  return true;
}
