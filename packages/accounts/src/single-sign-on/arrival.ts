/**
 * Which account a sign-in through a provider opens (docs/api/single-sign-on.md): the linked account, the account with
 * the reported address, or a new one.
 *
 * What a provider reports now is not who the account is. The account's own verified address decides which domain it
 * belongs to, what that domain enforces and which organization it may enter. A reported address only links or creates an
 * account, and both need a verified address; or it changes the address of a linked account, where the domain's own provider
 * has verified the new address and it is in that domain.
 */

import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError, toPlainName } from '@millrace/runtime';
import { recordActivity, recordOwnActivity } from '../activity/record-activity.ts';
import { acceptInvite } from '../invites/accept-invite.ts';
import { findPendingInvite } from '../invites/invite-store.ts';
import { isInviteExpired } from '../invites/invites.ts';
import { keepKeysToMemberships, lockKeysOf } from '../keys/personal-api-key-store.ts';
import { isKeptOut } from '../members/kept-out.ts';
import { findMember } from '../members/member-store.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import {
  type AddressDomain,
  deleteProofs,
  findAddressDomain,
  insertIdentity,
  noteProved,
  type ProviderIdentity,
  type ProviderKind,
  useIdentity,
} from '../sign-in/provider-store.ts';
import { endSessionsOf } from '../sign-in/sessions.ts';
import { confirmEmail, findUser, setCurrentEnvironment, type User } from '../users/user-store.ts';
import { changeEmail, createUser } from '../users/users.ts';
import { domainOfAddress, enforcedProvider, type Installed, isProviderOf } from './enforcement.ts';

/** What a provider reports about a person. Its response was checked: genuine, recent and meant for this installation. */
export interface ProviderAnswer {
  kind: ProviderKind;
  /** The domain whose own provider it is; null for a provider of the installation. */
  domainId: string | null;
  /** The issuer of an OpenID provider, the entity ID of a SAML provider, the address of a GitHub server. */
  issuer: string;
  /** The provider's own identifier of the person (`isSubject`). It stays the same when the address changes. */
  subject: string;
  /** In lower case; null if the provider did not report an address that an account can have. */
  email: string | null;
  /** Whether the provider says that it has verified the address. */
  isEmailVerified: boolean;
  firstName: string;
  lastName: string;
}

/** Whether a text can identify a person at a provider. The limit is that of SAML; OpenID Connect allows one character less. */
export const isSubject = (text: string): boolean => /^(?=.*\S)\P{Cc}{1,256}$/u.test(text);

export type ArrivalRefusal =
  | 'account_disabled'
  | 'no_email'
  | 'email_not_verified'
  | 'other_domain'
  | 'kept_out'
  | 'jit_not_enabled'
  | 'no_new_organizations'
  | { enforced: ProviderKind };

export type Arrival =
  | { outcome: 'refused'; reason: ArrivalRefusal }
  | {
      outcome: 'arrived';
      user: User;
      /** The verified domain that the account's verified address is in. */
      domain: AddressDomain | undefined;
      /** What the person gets an email about. */
      changed: ('linked' | 'claimed')[];
      /** The account's address before this sign-in, if the provider changed it. */
      emailBefore: string | null;
      /** Whether this sign-in put an enforcement into effect that was waiting for an administrator. */
      isEnforcedNow: boolean;
    };

/**
 * The key of a person at a provider. The issuer is part of it: when a domain or the operator replaces a provider, a subject
 * of the new one is another person than the same subject of the old one.
 */
const identityOf = ({ kind, domainId, issuer, subject }: ProviderAnswer): ProviderIdentity => ({
  provider: domainId === null ? kind : `${kind}:${domainId}`,
  issuer,
  subject,
});

/**
 * Signs in a person through a provider: finds or creates the account, and adds it to the organization of its domain where
 * that organization has invited it or provisions members automatically.
 *
 * The organization is locked before anything is looked up in it, as for every change of its members: of two first sign-ins
 * at the same time, the second finds what the first has created.
 */
export async function arrive(
  tx: Transaction,
  answer: ProviderAnswer,
  { now, installed }: { now: Date; installed: Installed },
): Promise<Arrival> {
  const linked = await findLinked(tx, answer);
  const own = linked?.email ?? answer.email;
  if (own === null) return refused('no_email');
  if (!linked && !answer.isEmailVerified) return refused('email_not_verified');

  const place = await lockDomainOf(tx, own);
  const refusal = await refusalOf(tx, answer, { place, installed });
  if (refusal !== null) return refused(refusal);
  const found = linked ?? (await findUser(tx, { email: own }));
  if (found && !found.is_active) return refused('account_disabled');

  const email = linked ? await addressAfter(tx, linked, answer) : own;
  const isVerified = !linked || linked.is_email_verified || email !== own;
  const domain = isVerified ? place : undefined;
  const entry = domain && (await entryOf(tx, domain, { user: found, email, now }));
  if (!found && (entry === undefined || entry === 'kept out')) {
    return refused(entry === 'kept out' ? 'kept_out' : domain ? 'jit_not_enabled' : 'no_new_organizations');
  }

  let user = found ?? (await createArrived(tx, answer, own));
  await lockKeysOf(tx, user.id);
  const changed = linked ? [] : await link(tx, answer, { user, isNew: !found });
  if (email !== own) {
    await changeEmail(tx, user, email);
    user = { ...user, email, is_email_verified: true };
  }
  if (domain && entry && entry !== 'kept out') await enter(tx, domain, { user, entry, now });
  const isEnforcedNow = domain !== undefined && (await prove(tx, domain, { user, answer, installed }));
  return { outcome: 'arrived', user, domain, changed, emailBefore: email === own ? null : own, isEnforcedNow };
}

/**
 * Whether a provider confirms that the person of a session is present.
 * @returns why not; null if it does.
 */
export async function refusalToConfirm(
  tx: Transaction,
  answer: ProviderAnswer,
  { userId, installed }: { userId: number; installed: Installed },
): Promise<ArrivalRefusal | 'another_account' | null> {
  const linked = await findLinked(tx, answer);
  if (linked?.id !== userId) return 'another_account';
  const place = await findAddressDomain(tx, domainOfAddress(linked.email));
  return refusalOf(tx, answer, { place, installed });
}

const refused = (reason: ArrivalRefusal): Arrival => ({ outcome: 'refused', reason });

async function findLinked(tx: Transaction, answer: ProviderAnswer): Promise<User | undefined> {
  const id = await useIdentity(tx, identityOf(answer));
  return id === undefined ? undefined : findUser(tx, { id });
}

/** The verified domain of an address, read again after its organization was locked. */
async function lockDomainOf(tx: Transaction, email: string): Promise<AddressDomain | undefined> {
  const name = domainOfAddress(email);
  const seen = await findAddressDomain(tx, name);
  if (!seen) return undefined;
  await lockOrganization(tx, seen.organization_id);
  return findAddressDomain(tx, name);
}

/**
 * Why a provider may not sign in an account. The domain of the account and the domain of the reported address can both refuse;
 * an address that the provider has not verified refuses too, but never admits.
 *
 * @param place the verified domain of the account's own address.
 */
async function refusalOf(
  tx: Transaction,
  answer: ProviderAnswer,
  { place, installed }: { place: AddressDomain | undefined; installed: Installed },
): Promise<'other_domain' | { enforced: ProviderKind } | null> {
  const { email, domainId } = answer;
  const reported = email === null ? place : await findAddressDomain(tx, domainOfAddress(email));
  // The provider of a domain speaks only for addresses in that domain.
  if (domainId !== null && (place?.id !== domainId || reported?.id !== domainId)) return 'other_domain';
  for (const domain of [place, reported]) {
    const enforced = domain ? enforcedProvider(domain, installed) : null;
    if (domain && enforced !== null && !isProviderOf(domain, enforced, answer)) return { enforced };
  }
  return null;
}

/** The address a linked account has from now on: another one only if its domain's own provider has verified it and it is free. */
async function addressAfter(
  tx: Transaction,
  linked: User,
  { email, isEmailVerified, domainId }: ProviderAnswer,
): Promise<string> {
  const mayChange = domainId !== null && isEmailVerified && email !== null;
  if (!mayChange || domainOfAddress(email) !== domainOfAddress(linked.email)) return linked.email;
  return (await findUser(tx, { email })) === undefined ? email : linked.email;
}

/**
 * Links an account with the person at the provider.
 * @throws AppError `conflict`.
 */
async function link(
  tx: Transaction,
  answer: ProviderAnswer,
  { user, isNew }: { user: User; isNew: boolean },
): Promise<('linked' | 'claimed')[]> {
  const isUnproved = !user.is_email_verified;
  if (isUnproved) await claim(tx, user);
  const { kind, domainId } = answer;
  if (!(await insertIdentity(tx, { ...identityOf(answer), user_id: user.id, domain_id: domainId }))) {
    throw new AppError('conflict', 'This sign-in was just used for a different account. Start again.');
  }
  if (isNew) return [];
  const change = { type: 'User', action: 'created', field: 'sign_in_provider', before: null } as const;
  await recordOwnActivity(tx, user, { activity: 'updated', changes: [{ ...change, after: kind }] });
  return isUnproved ? ['claimed', 'linked'] : ['linked'];
}

/** How an account becomes a member of the organization of a domain; undefined if it is a member already or may not. */
async function entryOf(
  tx: Transaction,
  { organization_id: organizationId, provisions, features }: AddressDomain,
  { user, email, now }: { user: User | undefined; email: string; now: Date },
): Promise<{ invite: string } | { level: 1 } | 'kept out' | undefined> {
  if (user && (await findMember(tx, { organizationId, userId: user.id }))) return undefined;
  const invite = await findPendingInvite(tx, organizationId, email);
  if (invite && !isInviteExpired(invite, now)) return { invite: invite.id };
  if (!provisions || !hasPlanFeature(features, 'automatic_provisioning')) return undefined;
  if (await isKeptOut(tx, organizationId, email)) return 'kept out';
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

async function createArrived(tx: Transaction, { firstName, lastName }: ProviderAnswer, email: string): Promise<User> {
  const cut = (text: string) => [...toPlainName(text)].slice(0, 150).join('');
  const names = { firstName: cut(firstName), lastName: cut(lastName) };
  const user = await createUser(tx, { email, ...names, isEmailVerified: true });
  const about = { organizationId: null, scope: 'User', itemId: user.uuid, name: email } as const;
  await recordActivity(tx, { ...about, activity: 'created', actor: { userId: user.id } });
  return user;
}

/**
 * Gives an account whose address was never verified to the owner of that address. Someone else may have prepared the account,
 * so no sign-in method that was set up before works any more, and its keys reach no further than they did.
 */
export async function claim(tx: Transaction, user: User): Promise<void> {
  await deleteProofs(tx, user.id);
  await endSessionsOf(tx, user.id);
  await keepKeysToMemberships(tx, user.id, {});
  await confirmEmail(tx, user.id);
}

/** @returns whether a provider is enforced from now on, because an administrator has signed in through it. */
async function prove(
  tx: Transaction,
  domain: AddressDomain,
  { user, answer, installed }: { user: User; answer: ProviderAnswer; installed: Installed },
): Promise<boolean> {
  const { kind } = answer;
  if (!isProviderOf(domain, kind, answer)) return false;
  const { id, organization_id: organizationId, domain: name } = domain;
  const member = await findMember(tx, { organizationId, userId: user.id });
  if (!member || member.level < membershipLevels.administrator || !(await noteProved(tx, id, kind))) return false;
  const proved = { ...domain, sso_proved: [...domain.sso_proved, kind] };
  if (enforcedProvider(proved, installed) !== kind) return false;
  await recordActivity(tx, {
    ...{ organizationId, scope: 'OrganizationDomain', itemId: id, name, activity: 'updated' },
    actor: { userId: user.id },
    change: { before: { sso_enforcement_state: 'waiting' }, after: { sso_enforcement_state: 'active' } },
  });
  return true;
}
